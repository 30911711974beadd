"""What a chat model is sent, read by a double that sees nothing else; and its replies to whatever is not the answer.

The judge in it is honest: a passage is worth 1 when the answer follows from it, else 0. Asked to check sentences it
calls all of them supported, as a model does that believes what it wrote, and reads the controls rightly.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.speakers.questions import Question, same_words
from thresher.answering.second_reader import CONTROL_PASSAGE, CONTROLS, SUPPORTED

EVIDENCE = re.compile(r'<evidence number="(\d+)"(?: from="([^"]*)")?[^>]*>\n?(.*?)\n?</evidence>', re.DOTALL)
CHUNK = re.compile(r'<chunk number="\d+">\n?(.*?)\n?</chunk>', re.DOTALL)
ONE_CHUNK = re.compile(r"<chunk>\n?(.*?)\n?</chunk>", re.DOTALL)
SENTENCE = re.compile(r'<sentence number="\d+">?(.*?)(?:</sentence>|$)', re.MULTILINE)
TAGGED = re.compile(r"<(?:query|question)>\s*(.*?)\s*</(?:query|question)>", re.DOTALL)
LABELLED = re.compile(r"^(?:Last )?[Qq]uestion: (.+)$", re.MULTILINE)

TOP_GRADE = 3
THRESHOLD = 0.5
"""Proposed where one is asked for: between the two scores of the honest judge."""
MOST_SEARCH_WORDS = 14
MOST_WORDS = 30
CLOSE = 0.6
"""Of a rewritten or corrected question to the one it was."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered piece of evidence."""

    number: int
    source: str
    text: str

    @property
    def whole(self) -> str:
        """With the title of its document."""
        return f"{self.source}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt for an answer, as it arrived."""

    question: str
    passages: tuple[Passage, ...]

    def holding(self, question: Question) -> Passage | None:
        """The first passage from which the answer follows."""
        return next((passage for passage in self.passages if question.held_by(passage.whole)), None)


def asked(user: str) -> Asked | None:
    """The question and the evidence of a prompt for an answer; None for any other prompt."""
    passages = tuple(Passage(int(number), source, text) for number, source, text in EVIDENCE.findall(user))
    if not passages or SENTENCE.search(user):
        return None
    return Asked(question_in(user), passages)


def question_in(user: str) -> str:
    """What is asked in a prompt: behind the last label or between marks, else all of it."""
    found = LABELLED.findall(EVIDENCE.sub("", user)) or TAGGED.findall(user)
    return str(found[-1]).strip() if found else user.strip()


class Known:
    """The questions by their words; one that was corrected or rewritten is known by the nearest."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._by_words = {same_words(one.question): one for one in questions}

    def find(self, text: str) -> Question | None:
        """The question that a text is."""
        words = same_words(text)
        near = [words] if words in self._by_words else difflib.get_close_matches(words, self._by_words, 1, CLOSE)
        return self._by_words[near[0]] if near else None


def other_reply(system: str, user: str, known: Known) -> str | None:
    """The reply to a prompt for scores, a threshold, verdicts or other words; None where an answer is asked."""
    if SENTENCE.search(user):
        return verdicts(user)
    asking = question_in(user)
    question = known.find(asking)
    chunks = CHUNK.findall(user)
    if chunks:
        holds = [question is not None and question.held_by(chunk) for chunk in chunks]
        if f"Grades: {len(chunks)}." in user:
            return json.dumps({str(at): TOP_GRADE * held for at, held in enumerate(holds, start=1)})
        return json.dumps({"scores": [float(held) for held in holds]})
    if one := ONE_CHUNK.search(user):
        return "yes" if question is not None and question.held_by(one[1]) else "no"
    if re.search(r"^Scores: ", user, re.MULTILINE):
        return json.dumps({"scores": [THRESHOLD]})
    if "JSON" in system:
        words = " ".join(asking.rstrip("?").split()[:MOST_SEARCH_WORDS])
        return json.dumps({"query": asking, "question": asking, "words": words})
    return None


def verdicts(user: str) -> str:
    """Every sentence supported by the words nearest to it, but for the controls, whose verdicts are known."""
    texts = (text for _, _, text in EVIDENCE.findall(user) if text != CONTROL_PASSAGE)
    lines = [line for text in texts for line in re.split(r"\n|(?<=[.!?]) ", text) if line.strip()]
    each: dict[str, str] = {}
    for at, sentence in enumerate(SENTENCE.findall(user), start=1):
        wanted = set(same_words(sentence).split())
        near = max(lines, key=lambda line: len(wanted & set(same_words(line).split())), default="")
        each[f"verdict_{at}"] = CONTROLS.get(sentence, SUPPORTED)
        each[f"words_{at}"] = " ".join(near.split()[:MOST_WORDS])
    return json.dumps(each)
