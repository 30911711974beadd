"""What was said so far: the question, the turns before it, and what a system message asks of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from thresher.models.onnx import encodable
from thresher_server.openai.answer_text import without_tail
from thresher_server.problems import Problem
from thresher_server.shapes import Foreign

TEXT_PARTS = ("text", "input_text", "output_text", "refusal")
"""Kinds of parts of a message that are read: those of chat completions and of responses."""

INSTRUCTING = ("system", "developer")

TURNS, TURN_CHARACTERS = 10, 4000
"""Of earlier turns that are kept with a question, and of each question and answer: a follow-up seldom means more than
the last three, and a client sends all of a conversation again each time."""

NAMELESS = "text that the chat program added"
"""What a file without a name is called."""

_TASK, _BEGIN, _END = "### Task:", "<context>", "</context>"
"""Around the rules and the text of files that Open WebUI adds."""
_SOURCE = re.compile(r'<source\b[^<>]*\sname="([^"]*)"')
_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)


Text = Annotated[str, AfterValidator(encodable)]
"""A text of a request, with "?" for half of a surrogate pair: JSON may hold one, no reply can."""


class Part(Foreign):
    """One part of a message; text alone is read."""

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
    """A conversation as it is asked: the last question, and what came before."""

    question: str
    history: tuple[tuple[str, str], ...] = ()
    """Earlier questions with their answers, oldest first; the answer is empty where none came."""
    instructions: str = ""
    """Of system messages, in their order."""
    unread: tuple[str, ...] = ()
    """Names of the files that the client put around the question or the instructions: they are no documents here."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is read of it."""
        return (self.instructions, *(text for turn in self.history for text in turn), self.question)


def said_in(messages: Iterable[Message]) -> list[tuple[str, str]]:
    """(role, text) of each message. Problem 422 for a picture, a sound or a file in the question: only text is read.

    In an earlier turn the text beside it is what was asked: it refuses nothing that comes later.
    """
    every = list(messages)
    asked = max((at for at, message in enumerate(every) if message.role == "user"), default=0)
    return [(message.role, text_of(message.content, earlier=at < asked)) for at, message in enumerate(every)]


def text_of(content: str | Sequence[Part] | None, *, earlier: bool = False) -> str:
    """The text of a message, its parts on a line each. Problem 422 for a part that is none, but in an earlier turn."""
    if content is None or isinstance(content, str):
        return content or ""
    for part in content:
        if part.type not in TEXT_PARTS and not earlier:
            raise Problem(
                422,
                "cannot be read in a question",
                subject=f"a part of type {part.type!r}",
                next_step="ask in text; add the file to the collection, and its text is found",
            )
    return "\n".join(filter(None, (part.text or part.refusal for part in content if part.type in TEXT_PARTS)))


def conversation(said: Sequence[tuple[str, str]], instructions: str = "") -> Conversation:
    """The conversation of these messages; what is not from a user, an assistant or a system is left out.

    Problem 422 where no user says anything.
    """
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
    if open_question is None and turns:  # a client that has the last answer go on asks for it again
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


def question_of(text: str) -> str:
    """What a person asked in a message that a client may have put its own findings around.

    Open WebUI does so with knowledge or files of its own: rules and `<context>` first, the question behind them or in
    `<user_query>`. The documents that are asked here are ours, and so is what is held against them.
    """
    given = _with_files(text)
    query = (_QUERY.search(given.rest) or _QUERY.search(given.files)) if given.files else None
    return (query.group(1) if query else given.rest).strip() or text.strip()


@dataclass(frozen=True, slots=True)
class _WithFiles:
    """A message as a client sends it: rules with the text of files, and what a person wrote."""

    files: str
    rest: str

    @property
    def names(self) -> list[str]:
        """Of the files; what to call their text where none has a name."""
        context = self.files.partition(_BEGIN)[2].removesuffix(_END)
        names = [" ".join(unescape(name).split()) for name in _SOURCE.findall(context)]
        return list(filter(None, names)) or ([NAMELESS] if context.strip() else [])


def _with_files(text: str, *, anywhere: bool = False) -> _WithFiles:
    """The parts of a message; files begin it, or stand `anywhere`."""
    text = text.strip()
    start, behind = text.find(_TASK), text.rfind(_END) + len(_END)
    if start < 0 or (start and not anywhere) or not start < text.find(_BEGIN, start) < behind:
        return _WithFiles("", text)
    return _WithFiles(text[start:behind], f"{text[:start]}{text[behind:]}".strip())


def refuse_unsupported(given: dict[str, Any]) -> None:
    """Problem 422 for what a client asks of the answer that no answer here can have; `given` by its field's name."""
    why = {
        "n": "one answer is given to a question, which comes out the same each time",
        "logprobs": "an answer has no log-probabilities; `thresher.certainty` says how likely it is right",
        "response_format": "an answer is text with its citations; `thresher` in the reply has its parts as JSON",
        "tool_choice": "tools are not called",
        "modalities": "an answer is text",
        "previous_response_id": "replies are not kept; send the earlier messages with the question",
        "conversation": "replies are not kept; send the earlier messages with the question",
        "background": "replies are not kept",
    }
    for name, asked in given.items():
        if asked:
            raise Problem(422, why[name], subject=name, next_step="leave it out")
