"""People's labels as JSON Lines: questions with relevant or irrelevant passages, or with answers.

{"question": "...", "passage": "...", "title": "...", "relevant": true}      one passage; several lines a question
{"question": "...", "answers": ["...", "..."]}         texts of answering passages, which are searched in the collection
{"question": "...", "answerable": false}               nothing in the collection answers
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from thresher.collection import Label
from thresher.errors import UsageError
from thresher.json_lines import lines_of
from thresher.text.terms import folded

LEAST_QUESTIONS = 100
"""Questions with a relevant passage: a fifth each is for tuning and held out, and a calibration needs 20."""

PartName = Literal["train", "tune", "held out"]
SHARES: Sequence[tuple[PartName, float]] = (("train", 0.6), ("tune", 0.8), ("held out", 1.0))
"""Upper ends of the parts: three fifths to learn from, one to fit weights and bounds on, one for the report."""

FORMS = 'write {"question": "...", "passage": "...", "relevant": true} or {"question": "...", "answers": ["..."]}'


class Passage(NamedTuple):
    """A text and its title, which may be empty."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """All labels of one question."""

    question: str
    relevant: tuple[Passage, ...] = ()
    irrelevant: tuple[Passage, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A question with relevant, irrelevant and unlabelled passages."""

    question: str
    relevant: tuple[Passage, ...]
    irrelevant: tuple[Passage, ...]
    others: tuple[Passage, ...] = ()
    part: PartName = "train"

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Group:
        """From `dataclasses.asdict`, after a JSON round trip."""
        kinds = ("relevant", "irrelevant", "others")
        return cls(**{**stored, **{kind: tuple(Passage(*one) for one in stored[kind]) for kind in kinds}})


def read_labels(path: Path) -> list[Labelled]:
    """The questions of a file, in order, without passages labelled both ways. Raises UsageError with the line."""
    read = []
    for number, line in lines_of(path):
        try:
            read.append(_label(json.loads(line)))
        except ValueError as error:
            raise UsageError("is no label", subject=f"{path}, line {number}", next_step=FORMS) from error
    return together(read)


def together(labels: Iterable[Labelled]) -> list[Labelled]:
    """All labels by question, in the order of the questions."""
    known: dict[str, Labelled] = {}
    for one in labels:
        key = folded(one.question).strip()
        known[key] = _both(known[key], one) if key in known else one
    return [_without_contradictions(one) for one in known.values()]


def _label(fields: Any) -> Labelled:
    match fields:
        case {"question": str(question), "passage": str(text), "relevant": bool() | 0 | 1 as relevant} if (
            question.strip() and text.strip()
        ):
            passages = (Passage(str(fields.get("title") or ""), text),)
            return Labelled(question, passages) if relevant else Labelled(question, (), passages)
        case {"question": str(question), "answers": [*answers]} if question.strip() and "passage" not in fields:
            if any(not isinstance(one, str) or not one.strip() for one in answers):
                raise ValueError
            return Labelled(question, answers=tuple(answers))
        case {"question": str(question), "answerable": False} if question.strip():
            return Labelled(question)
    raise ValueError


def _both(one: Labelled, other: Labelled) -> Labelled:
    return Labelled(
        one.question,
        tuple(dict.fromkeys(one.relevant + other.relevant)),
        tuple(dict.fromkeys(one.irrelevant + other.irrelevant)),
        tuple(dict.fromkeys(one.answers + other.answers)),
    )


def _without_contradictions(one: Labelled) -> Labelled:
    both = {passage.text for passage in one.relevant} & {passage.text for passage in one.irrelevant}
    relevant, irrelevant = ((p for p in kind if p.text not in both) for kind in (one.relevant, one.irrelevant))
    return replace(one, relevant=tuple(relevant), irrelevant=tuple(irrelevant))


def parted(groups: Sequence[Group]) -> list[Group]:
    """The groups with their parts: questions answered by one passage share a part, in any order of the groups.

    Raises UsageError for too few of them, or if all passages are of one kind.
    """
    answered = sum(bool(group.relevant) for group in groups)
    opposed = sum(bool(group.irrelevant) for group in groups)
    if answered < LEAST_QUESTIONS:
        raise UsageError(
            f"{answered} of {len(groups)} questions have a passage that answers them: too few to train on",
            next_step=f"label at least {LEAST_QUESTIONS}",
        )
    if opposed < LEAST_QUESTIONS:
        raise UsageError(
            f"{opposed} of {len(groups)} questions have a passage that does not answer them: too few to train on",
            next_step="label some as not relevant, or add documents that are searched for them",
        )
    keys = sorted({_key(group) for group in groups}, key=lambda key: hashlib.sha256(key.encode()).digest())
    places = {key: (at + 0.5) / len(keys) for at, key in enumerate(keys)}
    return [
        replace(group, part=next(part for part, share in SHARES if places[_key(group)] < share)) for group in groups
    ]


def _key(group: Group) -> str:
    key = group.relevant[0].text if group.relevant else group.question
    return key.encode("utf-8", "replace").decode("utf-8")


# --- of people's feedback ---------------------------------------------------------------------------------------------


def of_feedback(labels: Iterable[Label]) -> list[Labelled]:
    """Questions with the chunks cited by right answers and by wrong ones, and the answers that people gave.

    A right refusal means that nothing in the collection answers. Labels without such information are left out.
    """
    found = [_of_answer(label) for label in labels]
    return [one for one in found if one is not None]


def _of_answer(label: Label) -> Labelled | None:
    cited = tuple(Passage(passage.title, passage.text) for passage in label.passages)
    given: Sequence[str] = () if label.answer is None else (label.answer,)
    if not (cited or given or (label.right and label.abstained)):
        return None
    right, wrong = (cited, ()) if label.right else ((), cited)
    return Labelled(label.question, right, wrong, tuple(given))
