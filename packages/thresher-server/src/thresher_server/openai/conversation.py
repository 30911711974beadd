"""Parses a conversation: the question, earlier turns, and instructions of system messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from thresher_server.conversations import TURN_CHARACTERS
from thresher_server.openai.answer_text import without_tail
from thresher_server.problems import Problem
from thresher_server.shapes import Foreign

TEXT_PARTS = ("text", "input_text", "output_text", "refusal")
"""Types of content parts that are read: those of chat completions and of responses."""

INSTRUCTING = ("system", "developer")

TURNS = 10
"""Earlier turns kept with a question: a follow-up seldom refers to more than the last three, and clients resend the
whole conversation each time."""

NAMELESS = "text that the chat program added"
"""Name of a file without a name."""

_TASK, _BEGIN, _END = "### Task:", "<context>", "</context>"
"""They enclose the rules and the text of files that Open WebUI adds."""
_SOURCE = re.compile(r'<source\b[^<>]*\sname="([^"]*)"')


Text = Annotated[str, AfterValidator(lambda text: text.encode("utf-8", "replace").decode("utf-8"))]
"""A text of a request, with "?" for half of a surrogate pair: JSON may hold one, no reply can."""


class Part(Foreign):
    """A content part of a message; only text is read."""

    model_config = ConfigDict(strict=True)
    type: Text = Field(examples=["text"])
    text: Text | None = None
    refusal: Text | None = None


class Message(Foreign):
    """One message of a conversation."""

    model_config = ConfigDict(strict=True)
    role: Text = Field(examples=["user"])
    content: Text | list[Part] | None = Field(None, examples=["When does the ferry leave?"])


@dataclass(frozen=True, slots=True)
class Conversation:
    """The last question and what precedes it."""

    question: str
    history: tuple[tuple[str, str], ...] = ()
    """Earlier questions with their answers, oldest first; a missing answer is empty."""
    instructions: str = ""
    """Texts of system messages, in order."""
    unread: tuple[str, ...] = ()
    """Names of files that the client put around the question or the instructions; they are not documents here."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All its texts."""
        return (self.instructions, *(text for turn in self.history for text in turn), self.question)


def said_in(messages: Iterable[Message]) -> list[tuple[str, str]]:
    """(role, text) of each message. Raises Problem 422 for an image, sound or file in the question: only text is read.

    In earlier turns these are ignored, so that they do not refuse later questions.
    """
    every = list(messages)
    asked = max((at for at, message in enumerate(every) if message.role == "user"), default=0)
    return [(message.role, text_of(message.content, earlier=at < asked)) for at, message in enumerate(every)]


def text_of(content: str | Sequence[Part] | None, *, earlier: bool = False) -> str:
    """The text of a message, one line per part. Raises Problem 422 for other parts, except in an `earlier` turn."""
    if content is None or isinstance(content, str):
        return content or ""
    for part in content:
        if part.type not in TEXT_PARTS and not earlier:
            raise Problem(
                422,
                "cannot be read in a question",
                subject=f"a content part of type {part.type!r}",
                next_step="ask in text; add the file to the collection, and its text is found",
            )
    return "\n".join(filter(None, (part.text or part.refusal for part in content if part.type in TEXT_PARTS)))


def conversation(said: Sequence[tuple[str, str]], instructions: str = "") -> Conversation:
    """The conversation of user, assistant and system messages. Raises Problem 422 if no user message has text."""
    turns: list[tuple[str, str]] = []
    open_question: str | None = None
    for role, text in said:
        if role == "user" and text.strip():
            if open_question is not None:
                turns.append((open_question, ""))
            open_question = question_of(text)
        elif role == "assistant" and open_question is not None:
            turns.append((open_question, without_tail(text)))
            open_question = None
    if open_question is None and turns:  # a client that continues the last answer asks its question again
        open_question = turns.pop()[0]
    if open_question is None:
        raise Problem(422, "has no message of the role user with text", subject="the conversation")
    system = [text for role, text in said if role in INSTRUCTING]
    last = next(text for role, text in reversed(said) if role == "user" and text.strip())
    around = [_with_files(last), *(_with_files(text, anywhere=True) for text in system)]
    return Conversation(
        open_question,
        tuple((asked[:TURN_CHARACTERS], answer[:TURN_CHARACTERS]) for asked, answer in turns[-TURNS:]),
        "\n".join(filter(None, [instructions, *(one.rest for one in around[1:])])),
        tuple(dict.fromkeys(name for one in around for name in one.names)),
    )


def _query_in(text: str) -> str:
    """What the first `<user_query>` encloses; empty if it is not closed. A pattern would try each one to the end."""
    query, closed, _ = text.partition("<user_query>")[2].partition("</user_query>")
    return query if closed else ""


def question_of(text: str) -> str:
    """The person's question, without what a client put around it.

    Open WebUI adds its own knowledge or files: rules and `<context>` first, the question after them or in
    `<user_query>`. Here only our own documents are searched and cited.
    """
    given = _with_files(text)
    query = (_query_in(given.rest) or _query_in(given.files)) if given.files else ""
    return (query or given.rest).strip() or text.strip()


@dataclass(frozen=True, slots=True)
class _WithFiles:
    """A client's message: rules with the text of files, and the person's text."""

    files: str
    rest: str

    @property
    def names(self) -> list[str]:
        """Names of the files; `NAMELESS` if none has a name."""
        context = self.files.partition(_BEGIN)[2].removesuffix(_END)
        names = [" ".join(unescape(name).split()) for name in _SOURCE.findall(context)]
        return list(filter(None, names)) or ([NAMELESS] if context.strip() else [])


def _with_files(text: str, *, anywhere: bool = False) -> _WithFiles:
    """Split a message; files stand at its beginning, or `anywhere`."""
    text = text.strip()
    start, behind = text.find(_TASK), text.rfind(_END) + len(_END)
    if start < 0 or (start and not anywhere) or not start < text.find(_BEGIN, start) < behind:
        return _WithFiles("", text)
    return _WithFiles(text[start:behind], f"{text[:start]}{text[behind:]}".strip())


def refuse_unsupported(given: dict[str, Any]) -> None:
    """Raise Problem 422 for unsupported options; `given` maps a field's name to whether it is asked for."""
    why = {
        "n": "only one answer is given, the same each time",
        "logprobs": "an answer has no log-probabilities; `thresher.certainty` says how likely it is right",
        "response_format": "an answer is text with citations; `thresher` in the reply has its fields as JSON",
        "tool_choice": "tools are not called",
        "modalities": "an answer is text",
        "previous_response_id": "replies are not kept; send the earlier messages with the question",
        "conversation": "replies are not kept; send the earlier messages with the question",
        "background": "replies are not kept",
    }
    for name, asked in given.items():
        if asked:
            raise Problem(422, why[name], subject=name, next_step="leave it out")
