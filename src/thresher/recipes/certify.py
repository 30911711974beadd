"""Certifies a recipe in a collection: its labelled questions are asked again, and what the certificate is of is named.

A label is of one answer. It counts where that answer is still given, so that what is certified is what is shown now.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from thresher.answer import Answer
from thresher.errors import UsageError
from thresher.json_lines import read_rows
from thresher.judging import certify
from thresher.judging.certificate import MOST_KEPT, Certificate, Kind, NotCertified, Terms
from thresher.judging.certify import Labelled, Passed
from thresher.models.running import digest
from thresher.recipes.components import Components
from thresher.recipes.judges import judge_folder
from thresher.recipes.settings import RecipeSettings
from thresher.settings import flat_public
from thresher.types import HERE, IN_DOUBT

COSTS = """
batch llm.cache llm.concurrency llm.per_minute llm.price_completion llm.price_prompt llm.timeout_seconds
""".split()  # noqa: SIM905
"""Settings that change what an answer costs, and not the answer."""

FORM = '{"question": "...", "answer": "the text that was shown", "right": true}'

MADE = "is of a question made by a rule or a model: those are easier than people's and certify nothing"

MADE_KEYS = {"chunk_id", "near_miss", "answered_by"}
"""Keys that only a made question has; people's questions to a label file need none of them."""


@dataclass(frozen=True, slots=True)
class AnswerLabel:
    """A person's label of an answer."""

    question: str
    answer: str
    """Its text, as it was shown."""
    right: bool


# --- labels -----------------------------------------------------------------------------------------------------------


def read_labels(file: Path) -> list[AnswerLabel]:
    """The labels of a file, JSON lines. Raises UsageError that names every line that is none, and why."""
    rows = read_rows(file, label_fault, form=FORM)
    return [AnswerLabel(row["question"], row["answer"], row["right"]) for row in rows]


def label_fault(row: Any) -> str:
    """What is wrong with a label of a file; empty for one that is right."""
    if fault := question_fault(row):
        return fault
    if "right" not in row and ("answers" in row or "answerable" in row):
        return "is a question with known answers and no person's label of what was shown"
    if type(row.get("right")) is not bool:
        return 'has no "right" that is true or false'
    return "" if isinstance(row.get("answer"), str) else 'has no "answer", the text that was labelled'


def question_fault(row: Any) -> str:
    """What is wrong with a question of a file; empty for one that is right."""
    if not isinstance(row, dict):
        return "is no object"
    if row.get("made_by", "person") != "person" or row.keys() & MADE_KEYS:
        return MADE
    asked = row.get("question")
    return "" if isinstance(asked, str) and asked.strip() else 'has no "question"'


def asked_again(
    labels: Iterable[AnswerLabel], ask: Callable[[str], Answer], progress: Callable[[int], None] | None = None
) -> tuple[list[Labelled], int]:
    """Each labelled question with the certainty of its answer now, and how many get another answer than was labelled.

    A question counts once; of people who differ the one who says wrong counts.
    """
    of_question: defaultdict[str, list[AnswerLabel]] = defaultdict(list)
    for label in labels:
        of_question[label.question].append(label)
    found, outdated = [], 0
    for question, given in of_question.items():
        answer = ask(question)
        fitting = [one.right for one in given if bare_text(one.answer) == bare_text(answer.text)]
        if fitting:
            found.append(Labelled(asserted(answer), all(fitting)))
        else:
            outdated += 1
        if progress is not None:
            progress(1)
    return found, outdated


def asserted(answer: Answer) -> float | None:
    """The certainty of an answer; None for a refusal, and where a model's own answer is in doubt at any threshold.

    What a model says is as certain as the least supported of its sentences.
    """
    if answer.abstained or (answer.answered_by == "model" and answer.state == "doubtful"):
        return None
    if answer.certainty is None:
        return min((sentence.support for sentence in answer.sentences), default=None)
    return answer.certainty


def bare_text(text: str) -> str:
    """A text without the words in front that say how sure it is, which a certificate changes."""
    for opening in (IN_DOUBT, HERE):
        text = text.removeprefix(opening).removeprefix(opening.rstrip())
    return text.strip()


# --- what a certificate is of -----------------------------------------------------------------------------------------


def terms(settings: RecipeSettings, parts: Components) -> Terms:
    """What an answer depends on: documents, models with their fingerprints, and settings."""
    return Terms(documents(parts), models(settings, parts), public(settings))


def documents(parts: Components) -> str:
    """Fingerprint of all documents; a file that moved changes nothing."""
    catalog = parts.store.catalog()
    return _hash(sorted([id_, catalog.entry(id_).about] for id_ in catalog.ids))


def models(settings: RecipeSettings, parts: Components) -> dict[str, str]:
    """Every model that answers, and what was fitted for it. Of a remote model only its name is known."""
    from thresher.answering.spans import TABLE

    stored = {} if parts.calibrations is None else parts.calibrations().stored
    named = {
        "thresher": version("thresher"),
        "encoder": parts.encoder(settings).name,
        "judge": parts.models.judge(judge_folder(settings)).name,
        "certainties": digest(TABLE),
        "calibration": _hash(stored),
    }
    if settings.llm.model:
        named |= {"chat model": settings.llm.model, "checker": parts.models.checker().name}
    return named


def public(settings: RecipeSettings) -> dict[str, Any]:
    """The settings that an answer depends on, without secrets."""
    return {key: value for key, value in flat_public(settings).items() if key not in COSTS}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def uncovered(options: Mapping[str, Any], outside: str) -> str:
    """What a call asks for that no labelled question did; empty for nothing."""
    given = [name for name in ("where", "max_tokens") if options.get(name) is not None]
    given += ["outside"] if options.get("outside") not in (None, outside) else []
    return f"this was asked with `{given[0]}`, and the labelled questions were not" if given else ""


# --- certifying -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be certified."""

    kind: Kind
    level: float
    confidence: float | None

    @classmethod
    def of(cls, at_most_wrong: float | None, risk: float | None, confidence: float) -> Wanted:
        """One of the two statements. Raises UsageError for both, for none, and for a level outside 0 to 1."""
        for name, level in (("at_most_wrong", at_most_wrong), ("risk", risk), ("confidence", confidence)):
            if level is not None and not 0 < level < 1:
                step = "say 0.95 for 95 %" if name == "confidence" else "say 0.1 for one in ten"
                raise UsageError("must lie between 0 and 1", subject=f"`{name}` {level:g}", next_step=step)
        if (at_most_wrong is None) == (risk is None):
            what = "are two statements" if risk is not None else "is missing"
            subject = "`at_most_wrong` and `risk`" if risk is not None else "`at_most_wrong` or `risk`"
            raise UsageError(what, subject=subject, next_step="give one of them")
        if risk is not None:
            return cls("wrong and answered", risk, None)
        assert at_most_wrong is not None
        return cls("wrong among answered", at_most_wrong, confidence)

    def certified(
        self, labels: Sequence[Labelled], *, least: float, collection: str, recipe: str, of: Terms, outdated: int
    ) -> Certificate | NotCertified:
        """The certificate that the labels allow, or what it takes."""
        if self.confidence is None:
            found = certify.risk(labels, self.level, least=least)
        else:
            found = certify.at_most_wrong(labels, self.level, self.confidence, least=least)
        if not isinstance(found, Passed):
            return NotCertified(self.kind, self.level, self.confidence, **asdict(found), outdated=outdated)
        return Certificate(
            self.kind,
            self.level,
            self.confidence,
            found.threshold,
            len(labels),
            found.answered,
            found.errors,
            found.bound,
            datetime.now(UTC).date().isoformat(),
            collection,
            recipe,
            of,
            tuple(one.certainty or 0.0 for one in labels[:MOST_KEPT]),
            outdated,
        )


def settled(answer: Answer, certificate: Certificate) -> Answer:
    """The answer in doubt where its certainty is below the threshold."""
    if answer.state == "answered" and not certificate.reached(asserted(answer)):
        return replace(answer, state="doubtful")
    return answer
