"""Asks a collection with recipes by names such as `crag[upper=0.6]`; each question becomes a row."""

from __future__ import annotations

import re
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from thresher import recipes
from thresher.answer import NOT_CONFIGURED, Answer
from thresher.errors import Degraded, EncoderMismatch, MissingExtra, ThresherError, UsageError
from thresher.settings import check_known, collection_model, keys, known_to, parse_assignments
from thresher.types import Check, Evidence, Hit, Origin, Refined, SearchResult, Step
from thresher_evals.claim_labels import CHECKER, labelled
from thresher_evals.dataset import Question, Task, matches, sha1_number
from thresher_evals.rows import (
    Context,
    Place,
    Reply,
    Row,
    finite,
    read_reply,
)

if TYPE_CHECKING:
    from thresher.collection import Collection

T = TypeVar("T")

FATAL = (UsageError, MissingExtra, EncoderMismatch, Degraded)
"""Errors that the next question would raise too: they end the run."""


class Asker(Protocol):
    """A collection and its recipes."""

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """The hits of a recipe, best first."""
        ...

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer of a recipe."""
        ...

    def check(self, claim: str, evidence: Sequence[Evidence]) -> Check:
        """Whether the evidence supports a claim."""
        ...

    def also(self, document_id: str) -> tuple[str, ...]:
        """Every other source of a document; empty for a document that is not in the collection."""
        ...


STATE = re.compile(r" \((?:unverified|contradicted)\)")
"""What stands behind a sentence that is not supported."""

# --- one question -----------------------------------------------------------------------------------------------------


class Put:
    """Asks one question and makes its row.

    A ThresherError becomes part of the row; other exceptions are bugs and pass through. Processor time is that of the
    whole process, so it is recorded only for questions asked `alone`.
    """

    def __init__(self, asker: Asker, task: Task, limit: int, configs: Mapping[str, str], *, alone: bool) -> None:
        self._asker, self._task, self._limit, self._configs, self._alone = asker, task, limit, configs, alone
        self._also = cache(asker.also)

    def __call__(self, recipe: str, question: Question) -> Row:
        """Ask a recipe a question."""
        errors: list[ThresherError] = []
        answer = found = seconds = search_seconds = None
        processor = time.process_time()
        if self._task == "ask":
            answer, seconds = timed(lambda: self._asker.ask(question.question, recipe=recipe), errors)
        cpu_seconds = time.process_time() - processor
        # An answer does not show the ranking, so labelled questions are searched as well.
        if self._task == "search" or question.relevance:
            found, search_seconds = timed(
                lambda: self._asker.search(question.question, recipe=recipe, limit=self._limit), errors
            )
            if self._task == "search":
                cpu_seconds = time.process_time() - processor
        steps = () if answer is None else answer.steps
        degraded = [*(answer.degraded if answer else ()), *(found.degraded if found else ())]
        reply = None if answer is None else self._reply(answer)
        generator = "" if reply is None or reply.abstained else written_by(steps)
        if without_model(degraded) and (label := labelled(reply, question, steps, self._asker.check)):
            reply, generator = label, CHECKER
        return Row(
            question=question,
            recipe=recipe,
            config=self._configs[recipe],
            seconds=seconds if seconds is not None else search_seconds or 0.0,
            ranking=None if found is None else tuple(map(self._place, found.hits)),
            search_seconds=search_seconds,
            reply=reply,
            error="; ".join(f"{type(error).__name__}: {error}" for error in errors) or None,
            degraded=tuple(dict.fromkeys(degraded)),
            unreadable=sum(count(step, "unreadable") for step in steps),
            timed_out=any(map(is_timeout, errors)) or any(count(step, "timed_out") for step in steps),
            context=context_of(steps),
            cpu_seconds=cpu_seconds if self._alone else None,
            memory_mib=peak_memory(),
            generator=generator,
            judge=named(steps, "judge", "scorer"),
        )

    def _others(self, document_id: str, origin: Origin) -> tuple[str, ...]:
        return self._also(document_id) if origin is Origin.INSIDE else ()

    def _place(self, hit: Hit) -> Place:
        chunk, score = hit.chunk, hit.score
        others = self._others(chunk.document_id, hit.origin)
        return Place(chunk.source, others, chunk.page, chunk.start, chunk.end, score.value, str(score.scale))

    def _reply(self, answer: Answer) -> Reply:
        """The stored form of an answer: every source of a citation; of a step's details only numbers and words.

        The text is what the model wrote, without the state behind a sentence.
        """
        kept = answer.to_dict()
        kept["text"] = STATE.sub("", kept["text"])
        for citation, told in zip(answer.citations, kept["citations"], strict=True):
            told["also"] = self._others(citation.document_id, citation.origin)
        for step in kept["steps"]:
            step["detail"] = {
                name: value for name, value in step["detail"].items() if isinstance(value, str | int | float | None)
            }
        return read_reply(finite(kept))


def timed(call: Callable[[], T], errors: list[ThresherError]) -> tuple[T | None, float]:
    """The result of a call and its seconds; a ThresherError is added to `errors`, and the result is None."""
    started = time.perf_counter()
    try:
        value = call()
    except FATAL:
        raise
    except ThresherError as error:
        errors.append(error)
        value = None
    return value, time.perf_counter() - started


def without_model(degraded: Sequence[str]) -> bool:
    """Whether no chat model was there to answer."""
    return any(NOT_CONFIGURED in lack for lack in degraded)


def context_of(steps: Sequence[Step]) -> tuple[Context, ...] | None:
    """The evidence given to the generator, if the steps have it."""
    refined = next((step.value for step in steps if isinstance(step.value, Refined)), None)
    if refined is None:
        return None
    return tuple(
        Context(piece.hit.chunk.source, piece.start, piece.end, piece.text, piece.page, piece.hit.origin)
        for piece in refined.evidence
    )


BY_MODEL = ("grounded", "parametric")
"""Values of the detail `reader` for answers that a chat model wrote."""


def written_by(steps: Sequence[Step]) -> str:
    """The chat model that wrote an answer, else "reader", whichever reader it was."""
    return named(steps, "generate", "model") if named(steps, "generate", "reader") in BY_MODEL else "reader"


def named(steps: Sequence[Step], slot: str, *names: str) -> str:
    """The first of these details that the slot's step has, or an empty string."""
    told = (step.detail.get(name) for step in steps if step.name == slot for name in names)
    return next((str(value) for value in told if value), "")


def count(step: Step, name: str) -> int:
    """A count in a step's details: a number, the length of a list, or 1 for true."""
    value = step.detail.get(name, 0)
    return int(value) if isinstance(value, int | float) else len(value)


def peak_memory() -> float:
    """Peak memory of this process, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def is_timeout(error: BaseException | None) -> bool:
    """Whether an error was caused by a timeout."""
    while error is not None:
        if isinstance(error, TimeoutError) or "timeout" in type(error).__name__.lower():
            return True
        error = error.__cause__ or error.__context__
    return False


# --- a recipe with settings of its own in one word: `crag[upper=0.6,decompose=selection]` -----------------------------

VARIANT = re.compile(r"(?P<recipe>[^\[\]]+)(?:\[(?P<settings>[^\[\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe with settings of its own."""

    recipe: str
    settings: Mapping[str, str]


def parse_variant(name: str) -> Variant:
    """The recipe and the settings in a name; a plain recipe has no settings. Raises UsageError."""
    found = VARIANT.fullmatch(name.strip())
    if found is None:
        raise UsageError("not RECIPE or RECIPE[key=value,...]", subject=name, next_step="e.g. crag[upper=0.6]")
    given = [part.strip() for part in (found["settings"] or "").split(",") if part.strip()]
    return Variant(found["recipe"].strip(), parse_assignments(given, parameter="recipe", example="upper=0.6"))


# --- a collection as it is asked: with fixed settings, the models loaded before the clock starts ----------------------

WARM_UP_QUESTION = "Which of these came first?"

BUCKETS = 10_000
"""Questions are hashed into so many buckets: shares are exact to a hundredth of a percent."""


class CollectionAsker:
    """Asks one collection; a setting applies to the recipes that have it.

    A recipe may be a variant (`crag[upper=0.6]`): its settings apply last and must belong to that recipe. Raises
    UnknownSetting for a setting that no recipe has.

    `outside` applies to recipes that correct, so that others can be asked in the same run; an unknown place is refused
    at once.

    With `degraded` (0 to 1) retrieval is degraded on purpose (CRAG, arXiv:2401.15884v3, Figure 3): of the `questions`
    with gold documents inside, that share can still find them; they are hidden from the others.
    """

    def __init__(
        self,
        collection: Collection,
        settings: Mapping[str, Any],
        *,
        outside: str | None = None,
        degraded: float | None = None,
        questions: Iterable[Question] = (),
    ) -> None:
        collection.check_outside(outside)
        self.collection, self.settings = collection, checked(settings)
        self.outside, self.degraded = outside, degraded
        self.hidden = {} if degraded is None else hidden(collection, questions, degraded)
        """Text of a question to the filter that hides documents from it."""

    def settings_of(self, recipe: str) -> dict[str, Any]:
        """All settings of `recipe`, with `degraded` if it applies."""
        name, settings = self._own(recipe)
        worse = {} if self.degraded is None else {"degraded": self.degraded}
        return {**self.collection.settings(name, settings), **worse}

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """Ranked hits."""
        name, settings = self._own(recipe)
        where = self.hidden.get(question)
        return self.collection.search(question, recipe=name, limit=limit, where=where, settings=settings)

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer."""
        name, settings = self._own(recipe)
        outside = self.outside if recipes.get(name).corrects else None
        where = self.hidden.get(question)
        return self.collection.ask(question, recipe=name, outside=outside, where=where, settings=settings)

    def check(self, claim: str, evidence: Sequence[Evidence]) -> Check:
        """The claim checked against the evidence alone."""
        return self.collection.check(claim, evidence=evidence)

    def also(self, document_id: str) -> tuple[str, ...]:
        """The other sources of a document."""
        return self.collection.also(document_id)[1:]

    def warm_up(self, recipe: str) -> None:
        """Load what the first question would load."""
        name, settings = self._own(recipe)
        self.collection.search(WARM_UP_QUESTION, recipe=name, settings=settings)

    def _own(self, recipe: str) -> tuple[str, dict[str, Any]]:
        variant = parse_variant(recipe)
        model, settings = recipes.get(variant.recipe).settings, variant.settings
        check_known(settings, keys(model))
        around = known_to(collection_model(), self.settings) | known_to(model, self.settings)
        return variant.recipe, around | dict(settings)


def checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings. Raises UnknownSetting for one that neither a collection nor a recipe has."""
    check_known(settings, recipes.settings_keys())
    return dict(settings)


def hidden(collection: Collection, questions: Iterable[Question], share: float) -> dict[str, str]:
    """Text of a question to the filter that hides its gold documents, for all but `share` (0 to 1) of the questions.

    sha1("degrade:" + id) decides, so questions within one share are within every higher one. A document is hidden if a
    gold source names it by any of its sources. Questions with one text share one filter, with the gold documents of all
    of them that are outside the share.
    """
    if not 0 <= share <= 1:
        raise UsageError("is not a share", subject=f"degraded {share:g}", next_step="give a number from 0 to 1")
    documents = {name: record.source for record in collection.documents() for name in (record.source, *record.also)}
    gone: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        if sha1_number(f"degrade:{question.id}") % BUCKETS < share * BUCKETS:
            continue
        for gold in (source for source, grade in question.relevance.items() if grade > 0):
            named = [gold] if gold in documents else [name for name in documents if matches(gold, name)]
            gone[question.question].update(documents[name] for name in named)
    quoted = {text: ["'" + source.replace("'", "''") + "'" for source in sorted(gone[text])] for text in gone}
    return {text: f"source NOT IN ({', '.join(sources)})" for text, sources in quoted.items() if sources}
