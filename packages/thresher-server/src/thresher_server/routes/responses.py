"""Questions as responses, the newer format of OpenAI's clients, whole or streamed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from thresher_server.connected import while_connected
from thresher_server.openai.asked import prepared
from thresher_server.openai.conversation import conversation, said_in
from thresher_server.openai.problems import OpenAIRoute, openai_replies, streaming
from thresher_server.openai.response_stream import response_stream, whole_as_stream
from thresher_server.openai.responses import (
    OutputMessage,
    OutputText,
    ResponseReply,
    ResponseRequest,
    answered,
    begun,
    completed,
)
from thresher_server.openai.server_events import streamed
from thresher_server.openai.side_replies import side_reply
from thresher_server.openai.side_tasks import SideTask, side_task
from thresher_server.security.access import Asker
from thresher_server.security.keys import Caller
from thresher_server.service import Service, service_of

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


@router.post(
    "/v1/responses",
    summary="Ask",
    response_model=ResponseReply,
    responses={**streaming("whole, or as events"), **openai_replies()},
)
async def responses(
    body: ResponseRequest, request: Request, caller: Asker, service: Annotated[Service, Depends(service_of)]
) -> ResponseReply | Response:
    """The last message of the input is the question. Nothing is stored for a `previous_response_id`."""
    said = said_in(body.messages)
    if (side := side_task(said, body.metadata)) is not None:
        small = await _side(service, caller, body, side)
        return streamed(service, whole_as_stream(small)) if body.stream else small
    body.refuse_unsupported()
    asked = await run_in_threadpool(
        prepared, service, caller, request, body.model, conversation(said, body.instructions or "")
    )
    response = begun(asked.target.name, body)
    if body.stream:
        return streamed(service, response_stream(response, asked, await asked.followed().begun()))
    answer = await while_connected(request, asked.answer())
    return await run_in_threadpool(answered, response, asked, answer)


async def _side(service: Service, caller: Caller, body: ResponseRequest, side: SideTask) -> ResponseReply:
    small = await side_reply(service, caller, body.model, side)
    message = OutputMessage(content=[OutputText(text=small.choices[0].message.content)])
    return completed(begun(small.model, body), message, small.usage, None)
