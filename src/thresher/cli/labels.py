"""Answers labelled by a person, and the bound that is certified by them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli import output
from thresher.cli.options import FAILED, RecipeName, Target, on_collection
from thresher.cli.questions import remember, say_answer
from thresher.errors import StoreError, UsageError
from thresher.tracing.explain import counted

if TYPE_CHECKING:
    from thresher.collection import Collection
    from thresher.judging.certificate import Certificate, NotCertified

KEYS = "[r]ight, [w]rong, [s]kip, [q]uit: "

RIGHT = {"r": True, "w": False}
"""What a key says of an answer."""


@on_collection()
def label(
    target: Target,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Questions, one a line, or JSON lines with `question`; those asked before without one."
        ),
    ] = None,
    recipe: RecipeName = None,
) -> None:
    """Label answers right or wrong with one key, for `calibrate --at-most-wrong`; goes on where it was left.

    Questions come in a random order, so that those labelled are a sample whenever you stop. An answer is right where
    the sentence in bold, or the cell, answers; a refusal where the documents do not.
    """
    with target.open() as collection:
        collection.settings(target.recipe(recipe), target.settings)
        asked = _shuffled(_asked_before(collection) if questions is None else _questions(questions))
        known = {one.question for one in collection.labels.labels() if not one.by}
        left = [one for one in asked if one not in known]
        labelled, passed = _label(target, collection, left, target.recipe(recipe))
    rest = len(left) - labelled - passed
    told = f"{counted(labelled, 'answer')} labelled; {rest} of {counted(len(asked), 'question')} left"
    told += f"; {passed} cannot be labelled" if passed else ""
    target.show({"labelled": labelled, "left": rest, "passed": passed}, lambda _: output.say(told))


def _label(target: Target, collection: Collection, questions: list[str], recipe: str) -> tuple[int, int]:
    """Each answer shown and labelled until the end of the input; a label is on disk at once.

    Returns how many were labelled, and how many were passed over, since no search led to them (an outline, a greeting)
    or they were not stored.
    """
    labelled = passed = 0
    for number, question in enumerate(questions, start=1):
        answer = collection.ask(question, recipe=recipe, settings=target.settings)
        if not answer.chunks or not answer.trace:
            why = "it was not searched for" if not answer.chunks else "it was not stored"
            output.complain(f"{number} of {len(questions)}: {question}: no label, since {why}")
            passed += 1
            continue
        remember(target, answer.trace)
        if not target.json:
            output.say(f"\n{number} of {len(questions)}: {question}")
            say_answer(replace(answer, trace=""))
        match _key():
            case "q" | "":
                break
            case "r" | "w" as key:
                collection.feedback(answer, RIGHT[key])
                labelled += 1
    return labelled, passed


def _key() -> str:
    """One of the keys; empty at the end of the input."""
    while True:
        if sys.stdin.isatty():
            output.complain(KEYS)
            key = typer.getchar()
        else:
            key = sys.stdin.read(1)
        if key.casefold() in (*RIGHT, "s", "q", "", "\x04"):  # Ctrl-D
            return key.casefold().strip("\x04")


def _asked_before(collection: Collection) -> Iterator[str]:
    """The questions of stored answers, as they stand alone."""
    for trace, _ in collection.traces.asked():
        try:
            stored = collection.traces.load(trace)
        except (UsageError, StoreError):
            continue
        yield stored.get("standalone") or stored["question"]


def _questions(file: Path) -> list[str]:
    """The questions of a file. Raises UsageError that names each line of JSON that is none."""
    from thresher.json_lines import read_rows
    from thresher.recipes.certify import question_fault

    if file.suffix in (".jsonl", ".json"):
        return [row["question"] for row in read_rows(file, question_fault, form='{"question": "..."}')]
    try:
        lines = file.expanduser().read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else "is no text in UTF-8"
        raise UsageError(what, subject=str(file), next_step="give a .txt file, or .jsonl") from error
    return [line.strip() for line in lines if line.strip()]


def _shuffled(questions: Iterable[str]) -> list[str]:
    """Each question once, in an order that is random and the same at every call."""
    return sorted(dict.fromkeys(questions), key=lambda one: hashlib.sha256(one.encode("utf-8", "replace")).digest())


# --- the bound --------------------------------------------------------------------------------------------------------


def certify(
    target: Target,
    recipe: str,
    at_most_wrong: float | None,
    risk: float | None,
    confidence: float,
    labels: Path | None,
) -> None:
    """`calibrate --at-most-wrong` and `--risk`: exits with 1 where the labels do not allow it."""
    from thresher.judging.certificate import Certificate

    with target.open() as collection:
        labelled = collection.labels.labels()
        number, by_others = len({one.question for one in labelled if not one.by}), sum(bool(one.by) for one in labelled)
        with output.counting(max(number, 1), "labelled questions") as progress:
            made = collection.certify(
                at_most_wrong,
                risk=risk,
                confidence=confidence,
                labels=labels,
                recipe=recipe,
                settings=target.settings,
                progress=progress,
            )
    if by_others:
        output.complain(f"note: {counted(by_others, 'label')} given through the server did not count: no random sample")
    if isinstance(made, Certificate):
        target.show(made, _say_certificate)
        return
    target.show(made, partial(_say_not_certified, recipe))
    raise typer.Exit(FAILED)


def _say_certificate(made: Certificate) -> None:
    """A certificate, for a person."""
    from thresher.judging.certificate import percent, several

    output.say(f"certified: {made.statement} {made.evidence}")
    bound = percent(round(made.bound, 3))
    output.say(f"the exact upper bound is {bound}" if made.confidence else f"the estimate is {bound}")
    output.say(f"answers are asserted from a certainty of {made.threshold:.2f} on; those below are in doubt")
    output.say(f"it is of recipe {made.recipe} in collection {made.collection} with its documents, models and settings")
    _say_outdated(made.outdated)
    if line := several(made):
        output.complain(f"note: {line}")


def _say_not_certified(recipe: str, made: NotCertified) -> None:
    """What it takes, for a person."""
    from thresher.judging.certificate import several

    output.say(str(made))
    refusals = "refusals do not count" if made.confidence is not None else "refusals count as right or wrong too"
    output.say(f"an error is an answer that was labelled wrong; {refusals}")
    _say_outdated(made.outdated)
    if line := several(made):
        output.complain(f"note: {line}")
    if made.withdrawn:
        output.say(f"the earlier certificate of {recipe} is withdrawn")
    output.complain("label more answers: thresher label")


def _say_outdated(number: int) -> None:
    if number:
        output.say(f"{counted(number, 'label')} did not count: another answer is given now")
