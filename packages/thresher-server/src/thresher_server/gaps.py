"""What was asked and not answered, or answered wrongly: alike questions together, with the nearest documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.text.terms import STOP_WORDS

if TYPE_CHECKING:
    from thresher.types import Vectors

ALIKE = 0.65
"""Mean cosine from which questions are one gap. Of the benchmark's 60 pairs of a question and another wording of it all
have more, of its pairs of questions to different collections none, to one collection 0.9 % (bundled encoder)."""

MOST_QUESTIONS = 300
"""Questions that are put together at most, the newest: merging them takes a third of a second."""

NEAREST = 3
"""Documents of a gap."""

TERMS = 3
"""Words that stand for a gap."""

BY_COSINE = "dense"
"""The score of a chunk that says how near it is; where a recipe has none, the best of those from 0 to 1 does."""

ASKING = STOP_WORDS | {"may", "might", "must", "shall", "could", "would", "much", "many", "long", "tell"}
"""Words that a question has whatever it asks for."""

_WORD = re.compile(r"\w[\w'’-]*")


@dataclass(frozen=True, slots=True)
class Missed:
    """One question of a gap."""

    question: str
    """As it was typed."""
    trace: str
    asked: str
    """ISO 8601 time."""
    reason: str
    near: Mapping[str, float]
    """How near the sources came that it touched."""
    standalone: str | None = None
    """As it was understood, where it followed up on others: by that it is put beside others."""

    @property
    def understood(self) -> str:
        """What it asks for."""
        return self.standalone or self.question


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that ask for the same thing, the newest first."""

    questions: tuple[Missed, ...]
    terms: tuple[str, ...]
    nearest: tuple[tuple[str, float], ...]
    """Sources and how near they came, the nearest first."""


def missed(stored: Iterable[Mapping[str, Any]]) -> list[Missed]:
    """Of stored answers (as `explain` has them, with `asked` and `feedback`), newest first, those that are gaps.

    Of a question that was asked again only the last answer counts: one that is answered by now is no gap.
    """
    found: dict[str, Missed | None] = {}
    for answer in stored:
        question = answer.get("standalone") or answer["question"]
        found.setdefault(" ".join(question.casefold().split()), _missed(answer))
    return list(filter(None, found.values()))[:MOST_QUESTIONS]


def _missed(answer: Mapping[str, Any]) -> Missed | None:
    if not (reason := _reason(answer)):
        return None
    near, standalone = _near(answer["chunks"]), answer.get("standalone")
    return Missed(answer["question"], answer["trace"], answer["asked"], reason, near, standalone)


def _reason(answer: Mapping[str, Any]) -> str:
    """Why an answer leaves a gap; the empty text for one that does not."""
    feedback = answer.get("feedback")
    if feedback is not None:
        return "" if feedback["right"] else "marked as wrong"
    return "refused" if answer["abstained"] else ""


def _near(chunks: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    near: dict[str, float] = {}
    for chunk in chunks:
        if chunk["origin"] == "inside":
            near[chunk["source"]] = max(_nearness(chunk["scores"]), near.get(chunk["source"], 0.0))
    return near


def _nearness(scores: Mapping[str, Mapping[str, Any]]) -> float:
    if BY_COSINE in scores:
        return float(scores[BY_COSINE]["value"])
    shares = [score["value"] for score in scores.values() if str(score["scale"]).endswith("[0, 1]")]
    return max(shares, default=0.0)


def gaps(questions: Sequence[Missed], encode: Callable[[Sequence[str]], Vectors]) -> list[Gap]:
    """The questions by what they ask for, the largest group first; `encode` gives rows of unit length."""
    if not questions:
        return []
    groups = clusters(encode([one.understood for one in questions]), ALIKE)
    made = [_gap([questions[at] for at in group]) for group in groups]
    return sorted(made, key=lambda gap: -len(gap.questions))


def clusters(vectors: Vectors, alike: float) -> list[list[int]]:
    """Positions of the rows in groups: the two groups of the greatest mean cosine become one while it is `alike`.

    Groups and what is in them stand in the order of the rows.
    """
    groups = [[at] for at in range(len(vectors))]
    sums = np.asarray(vectors, dtype=np.float64)  # of each group: the mean cosine of two groups is that of their means
    while len(groups) > 1:
        means = sums / np.array([len(group) for group in groups])[:, None]
        cosines = means @ means.T
        np.fill_diagonal(cosines, -np.inf)
        one, other = sorted(divmod(int(cosines.argmax()), len(groups)))
        if cosines[one, other] < alike:
            break
        groups[one] = sorted(groups[one] + groups.pop(other))
        sums[one] += sums[other]
        sums = np.delete(sums, other, axis=0)
    return groups


def _gap(questions: Sequence[Missed]) -> Gap:
    near: dict[str, float] = {}
    for one in questions:
        for source, value in one.near.items():
            near[source] = max(value, near.get(source, 0.0))
    nearest = sorted(near.items(), key=lambda item: (-item[1], item[0]))[:NEAREST]
    return Gap(tuple(questions), _terms([one.understood for one in questions]), tuple(nearest))


def _terms(questions: Sequence[str]) -> tuple[str, ...]:
    """The words that most of the questions have, in the order they are asked in."""
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for question in questions:
        words = {word.casefold(): word for word in _WORD.findall(question) if word.casefold() not in ASKING}
        counts.update(words.keys())
        written = {**words, **written}
    common = {word for word, _ in counts.most_common(TERMS)}
    return tuple(written[word] for word in written if word in common)
