"""What the judge is trained on: texts with the places of answers, questions with texts, questions made of texts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from research.pools import Pool, candidates, holds, plain
from thresher.models.encoders import BundledEncoder
from thresher.text.sentences import sentence_spans

NEGATIVES = 24
"""Kept of each question; a few of them are drawn in each epoch."""
MADE = 9_000
"""Questions made from passages by taking a name, a year or a number out of a sentence."""


@dataclass(frozen=True)
class Passage:
    """A text, the title above it, and where in the text the answer stands, if that is known."""

    title: str
    text: str
    spans: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Group:
    """A question with texts that answer it and texts that do not; `near` are the negatives that matter most.

    With `certain=False` nobody checked that the positives answer: they are only better than the negatives.
    """

    set: str
    kind: str
    question: str
    positives: list[Passage]
    negatives: list[Passage]
    near: list[Passage] = field(default_factory=list)
    certain: bool = True


def read(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def places(text: str, answers: Iterable[str]) -> list[tuple[int, int]]:
    """Where an answer stands in the text as whole words; of places that overlap the longest."""
    found = []
    for answer in answers:
        if len(answer) < 2 and not answer.isdigit():
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE):
            found.append(match.span())
    found.sort(key=lambda span: (span[0] - span[1], span))
    kept: list[tuple[int, int]] = []
    for start, end in found:
        if all(end <= other_start or start >= other_end for other_start, other_end in kept):
            kept.append((start, end))
    return sorted(kept)


def passage(title: str, text: str, answers: Iterable[str] = ()) -> Passage:
    """A text with the places of the answers."""
    return Passage(title, text, places(text, answers))


def sentence_group(group: Group) -> Group | None:
    """The same question over single sentences: those that hold the answer, and the others of the same texts."""
    holding: list[Passage] = []
    others: list[Passage] = []
    for one in group.positives:
        for start, end in sentence_spans(one.text):
            inside = [(s - start, e - start) for s, e in one.spans if start <= s and e <= end]
            if len(one.text[start:end].split()) >= 4:
                (holding if inside else others).append(Passage(one.title, one.text[start:end], inside))
    strangers = [
        Passage(one.title, one.text[start:end])
        for one in [*group.near, *group.negatives[:8]]
        for start, end in sentence_spans(one.text)[:6]
        if len(one.text[start:end].split()) >= 4
    ]
    if not group.near and not holding:
        return None
    random.Random(group.question).shuffle(strangers)
    near = [] if holding else strangers[:2]
    return Group(group.set, "sentence", group.question, holding, [*others, *strangers][:NEGATIVES], near)


def at_row(pool: Pool, row: int, answers: Iterable[str] = ()) -> Passage:
    """A passage of the pool, without the title that its text begins with."""
    chunk = pool.chunks[row]
    return passage(chunk.title, chunk.text.removeprefix(chunk.title).strip(), answers)


def first_sentences(passages: Sequence[Passage]) -> list[Passage]:
    """A sentence of each passage."""
    return [Passage(one.title, one.text[slice(*sentence_spans(one.text)[0])]) for one in passages if one.text.strip()]


# --- made questions ---------------------------------------------------------------------------------------------------

ENTITY = re.compile(
    r"(?P<year>(?<![\w-])(?:1[0-9]{3}|20[0-2][0-9])(?![\w-]))"
    r"|(?P<number>(?<![\w.,-])\d+(?:[.,]\d+)*(?: (?:million|billion|percent|km|metres|feet|miles))?(?![\w-]))"
    r"|(?P<name>(?<![.!?] )(?<!^)\b[A-Z][\w'’.-]*[a-z]"
    r"(?: (?:of|the|de|van|von|and|for) (?=[A-Z])| [A-Z][\w'’.-]*[a-z])*)"
)
PLACE_WORDS = frozenset({"in", "at", "from", "near", "to"})
PERSON_WORDS = frozenset({"by", "with", "and", "president", "king", "actor", "director", "singer", "author", "coach"})
PRONOUNS = frozenset({"he", "she", "it", "they", "his", "her", "its", "their", "this", "these"})


def made(pool: Pool, held_rows: set[int], encoder: BundledEncoder, draw: random.Random) -> Iterator[Group]:
    """A sentence's name, year or number becomes the answer, the rest of the clause the question, some words lost.

    After Lewis, Denoyer and Riedel 2019 (noisy clozes); the answer's place in the passage is known exactly.
    """
    order = [at for at in range(len(pool.chunks)) if at not in held_rows]
    draw.shuffle(order)
    drafts: list[tuple[int, Passage, str, str]] = []
    for at in order:
        if len(drafts) == MADE:
            break
        one = at_row(pool, at)
        draft = cloze(one, draw)
        if draft is not None:
            drafts.append((at, one, *draft))
    encoded = encoder.encode([question for *_, question, _ in drafts])
    for (at, one, question, answer), vector in zip(drafts, encoded, strict=True):
        near = [c.row for c in candidates(pool, question, vector, number=16) if c.row != at]
        others = [row for row in near if not holds(pool.plain[row], [answer])]
        positive = passage(one.title, one.text, [answer])
        yield Group("made", "passage", question, [positive], [at_row(pool, row) for row in others[:12]])


def cloze(one: Passage, draw: random.Random) -> tuple[str, str] | None:
    """A question and its answer from one passage."""
    sentences = [one.text[s:e] for s, e in sentence_spans(one.text)[:-1] if 40 <= e - s <= 260]
    draw.shuffle(sentences)
    for sentence in sentences:
        found = [m for m in ENTITY.finditer(sentence) if len(m.group()) > 1 and m.group() not in one.title]
        if not found:
            continue
        names = [m for m in found if m.lastgroup == "name"]
        match = draw.choice(names if names and draw.random() < 0.65 else found)
        left, right = clause(sentence, match.start(), match.end())
        before = left.split()
        last = before[-1].lower() if before else ""
        wh = wh_word(match, last, draw)
        words = [*before, *right.split()]
        kept = [w for w in words if w.lower() in PRONOUNS or draw.random() > 0.2]
        kept = [w.strip(',;()"') for w in kept if w.lower() not in PRONOUNS]
        known = set(plain(" ".join(kept)).split())
        if one.title and not known & set(plain(one.title).split()):
            kept = [*one.title.split(" ("), *kept][: len(kept) + 4] if draw.random() < 0.85 else kept
        if len([w for w in kept if len(w) > 2]) < 4:
            continue
        question = " ".join([wh, *kept])
        return (question + "?" if draw.random() < 0.5 else question.lower()), match.group()
    return None


def clause(sentence: str, start: int, end: int) -> tuple[str, str]:
    """What stands left and right of the answer, to the nearest comma or bracket that leaves five words."""
    left, right = sentence[:start], sentence[end:].rstrip(" .!?")
    short_left, short_right = re.split(r"[,;:()]", left)[-1], re.split(r"[,;:()]", right)[0]
    if len((short_left + short_right).split()) >= 5:
        return short_left, short_right
    return left, right


def wh_word(match: re.Match[str], before: str, draw: random.Random) -> str:
    """What asks for the answer."""
    if match.lastgroup == "year":
        return draw.choice(["When", "In what year", "What year"])
    if match.lastgroup == "number":
        return draw.choice(["How many", "How much", "What number"])
    if before in PLACE_WORDS:
        return draw.choice(["Where", "In what city", "In what country", "What place"])
    if before in PERSON_WORDS:
        return "Who"
    return draw.choice(["Who", "What", "Which", "What is the name of"])
