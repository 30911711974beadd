"""Chat models that are scripted: those that speak without fault, and those that lie; each behind a loopback server."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from benchmarks.speakers.prompts import Asked, Known, Passage, asked, other_reply
from benchmarks.speakers.questions import Question, from_elsewhere, same_words
from thresher.text.terms import STOP_WORDS

REFUSAL = "NOT IN THE EVIDENCE"
"""What the prompt asks for where the evidence does not answer."""

BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z“”‘'])|\n\s*\n|\n(?=\s*[-|•*#])|(?<=\|)\n")
"""Between sentences, paragraphs, items and rows: a line that ends within a sentence does not end it."""

EDGES = " |-•*#"
"""Of a row or an item: a copy leaves them out."""

CAPTION = re.compile(r"(?:Figure|Table|Algorithm|Appendix|Section)\b")
REFERENCE = re.compile(r"\s*\[\d+(?:[,–-]\s*\d+)*\]")
"""A reference of a paper, which a copy would turn into a marker."""

LONGEST_COPY = 3
"""Sentences in which a copier finds what answers; what is spread over more is said in words of its own."""
FEWEST_WORDS, MOST_WORDS = 6, 40
"""Of a second sentence: less is a heading or a cell, more is a table or a formula that was read as text."""
LEAST_SHARED = 2
"""Words of the question in a second sentence: with fewer it is about something else."""

Said = tuple[str, ...]
"""The sentences of a reply, with their markers; empty for a refusal."""

Speak = Callable[[Question, Asked, Passage | None], Said]
"""From a question, the prompt that came, and the passage that holds the answer."""


# --- without fault: they answer only where a passage holds the answer -------------------------------------------------


def plainly(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence, with the number of the passage."""
    return (marked(question.gold, holding),) if holding else ()


def in_other_words(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """A paraphrase."""
    return (marked(question.paraphrase, holding),) if holding else ()


def copying(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The sentence of the passage that holds the answer, or the two or three of them."""
    if holding is None:
        return ()
    copied = shortest_run(question, holding)
    return tuple(marked(one, holding) for one in copied) or plainly(question, prompt, holding)


def in_two_sentences(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence, and the sentence of another passage that is nearest to the question."""
    if holding is None:
        return ()
    others = [
        (shared_words(question.question, sentence), -passage.number, sentence, passage)
        for passage in prompt.passages
        if passage.number != holding.number
        for sentence in sentences_of(passage.text)
        if whole(sentence) and shared_words(question.question, sentence) >= LEAST_SHARED
    ]
    second = max(others, key=lambda one: one[:2], default=None)
    return (marked(question.gold, holding), *([marked(second[2], second[3])] if second else []))


def without_markers(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence, without a marker."""
    return (question.gold,) if holding else ()


def in_german(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence in German."""
    return (marked(question.german, holding),) if holding else ()


# --- liars: they answer always ----------------------------------------------------------------------------------------


def other_number(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence with another number."""
    return lie(question.changed(question.number), prompt, holding)


def other_name(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence with another name or thing."""
    return lie(question.changed(question.name), prompt, holding)


def denying(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The gold sentence denied."""
    return lie(question.denied, prompt, holding)


def nearest(question: Question, prompt: Asked, holding: Passage | None) -> Said:
    """The sentence of the evidence that has most words of the question, whether it answers or not."""
    every = [
        (shared_words(question.question, sentence), -passage.number, sentence, passage)
        for passage in prompt.passages
        for sentence in sentences_of(passage.text)
    ]
    best = max(every, key=lambda one: one[:2], default=None)
    return (marked(best[2], best[3]),) if best else ()


def lie(sentence: str, prompt: Asked, holding: Passage | None) -> Said:
    """A wrong sentence with the number of the passage that holds the right answer, or of the first."""
    return (marked(sentence, holding or prompt.passages[0]),) if sentence else ()


def telling_of_elsewhere(questions: Sequence[Question]) -> Speak:
    """A sentence that is true of other documents."""
    return lambda question, prompt, holding: lie(from_elsewhere(question, questions), prompt, holding)


# --- sentences --------------------------------------------------------------------------------------------------------


def marked(sentence: str, passage: Passage) -> str:
    """A sentence with the number of a passage before its full stop."""
    bare = sentence.rstrip()
    end = bare[-1] if bare[-1:] in ".!?" else "."
    return f"{bare.rstrip('.!?')} [{passage.number}]{end}"


def sentences_of(text: str) -> list[str]:
    """The sentences, items and rows of a text, in one line each, without the references of a paper."""
    pieces = (" ".join(REFERENCE.sub("", piece).split()).strip(EDGES) for piece in BREAK.split(text))
    return [piece for piece in pieces if piece]


def whole(sentence: str) -> bool:
    """Whether it looks like a sentence and not like a heading, a caption, a row or the rest of one."""
    ends = sentence[0].isupper() and sentence[-1] == "." and not CAPTION.match(sentence)
    return ends and FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS


def shortest_run(question: Question, passage: Passage) -> list[str]:
    """The fewest sentences in a row from which the answer follows; none where they are more than `LONGEST_COPY`."""
    pieces = sentences_of(passage.text)
    for length in range(1, LONGEST_COPY + 1):
        for at in range(len(pieces) - length + 1):
            run = pieces[at : at + length]
            if question.held_by("\n".join([passage.source, *run])):
                return run
    return []


def shared_words(question: str, sentence: str) -> int:
    """How many words of the question, those that every text has left out, a sentence has."""
    asked, said = (set(same_words(text).split()) for text in (question, sentence))
    return len((asked & said) - STOP_WORDS)


# --- a double and its server ------------------------------------------------------------------------------------------

FAULTLESS: Mapping[str, Speak] = {
    "plain": plainly,
    "paraphrase": in_other_words,
    "copy": copying,
    "two sentences": in_two_sentences,
    "no markers": without_markers,
    "German": in_german,
}
LIARS: Mapping[str, Speak | None] = {
    "number": other_number,
    "name": other_name,
    "negation": denying,
    "elsewhere": None,
    "nearest": nearest,
}
"""`elsewhere` is made of the questions."""

NAMES = (*FAULTLESS, *LIARS)


def concerns(double: str, question: Question) -> bool:
    """Whether a question is put to a double: near misses go to `plain` and `nearest`, a change needs its words."""
    if not question.answerable:
        return double in {"plain", "nearest"}
    needed = {"nearest": False, "number": bool(question.number), "name": bool(question.name)}
    return needed.get(double, True)


@dataclass(slots=True)
class Double:
    """A rule for `ScriptedServer`: from what was sent to a reply. `said` is the last answer, in sentences."""

    name: str
    questions: Sequence[Question]
    said: Said = ()
    calls: int = 0
    prompt: Asked | None = None
    """The last one that asked for an answer."""
    _known: Known = field(init=False)
    _speak: Speak = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._known = Known(self.questions)
        speak = {**FAULTLESS, **LIARS}[self.name]
        self._speak = speak or telling_of_elsewhere(self.questions)

    def begin(self) -> None:
        """Forget what was said: the next question comes."""
        with self._lock:
            self.said, self.calls, self.prompt = (), 0, None

    def __call__(self, body: Any) -> str:
        """The reply to the messages that came."""
        system, *others = (str(message["content"]) for message in body["messages"])
        user = "\n".join(others)
        with self._lock:
            self.calls += 1
        reply = other_reply(system, user, self._known)
        return self._answer(user) if reply is None else reply

    def _answer(self, user: str) -> str:
        prompt = asked(user)
        question = self._known.find(prompt.question) if prompt else None
        said = self._speak(question, prompt, prompt.holding(question)) if prompt and question else ()
        with self._lock:
            self.said, self.prompt = said, prompt
        return " ".join(said) or REFUSAL
