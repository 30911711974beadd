"""Questions as chat completions, whole or streamed, for every client of OpenAI."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from thresher_server.connected import while_connected
from thresher_server.openai.asked import prepared
from thresher_server.openai.chat import ChatCompletion, ChatRequest, completion
from thresher_server.openai.chat_stream import chat_stream, whole_as_stream
from thresher_server.openai.conversation import conversation, said_in
from thresher_server.openai.open_webui import wants_events
from thresher_server.openai.problems import OpenAIRoute, openai_replies, streaming
from thresher_server.openai.server_events import streamed
from thresher_server.openai.side_replies import side_reply
from thresher_server.openai.side_tasks import side_task
from thresher_server.security.access import Asker
from thresher_server.service import Service, service_of

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


@router.post(
    "/v1/chat/completions",
    summary="Ask in a conversation",
    response_model=ChatCompletion,
    responses={**streaming("whole, or as chunks"), **openai_replies()},
)
async def chat_completions(
    body: ChatRequest, request: Request, caller: Asker, service: Annotated[Service, Depends(service_of)]
) -> ChatCompletion | Response:
    """The last message is the question and may follow up on those before; see docs/chat.md."""
    said = said_in(body.messages)
    if (side := side_task(said, body.metadata)) is not None:
        small = await side_reply(service, caller, body.model, side)
        return streamed(service, whole_as_stream(small)) if body.stream else small
    body.refuse_unsupported()
    asked = await run_in_threadpool(prepared, service, caller, request, body.model, conversation(said))
    if body.stream:
        followed = await asked.followed().begun()
        return streamed(service, chat_stream(asked, followed, events=wants_events(request, service)))
    answer = await while_connected(request, asked.answer())
    return await run_in_threadpool(completion, asked, answer)
