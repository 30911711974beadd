"""Puts every question of a dataset to every recipe, and keeps a row of each in the folder of the run.

Rows are written one by one, in order, and never rewritten, so a killed run loses at most the question it was at; with
several asked at a time, at most twice as many.
"""

from __future__ import annotations

import hashlib
import re
import resource
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import Degraded, EncoderMismatch, MissingExtra, ThresherError, UsageError
from thresher.protocols import Progress
from thresher.settings import check_known, keys, own, parse_assignments
from thresher.types import Answer, Citation, Evidence, Hit, Origin, Refined, SearchResult, Step
from thresher_evals.dataset import Dataset, Question, Task, sha1_number
from thresher_evals.jsonl import digest
from thresher_evals.metrics.answers import matches
from thresher_evals.rows import (
    Context,
    LineFile,
    Place,
    Reply,
    Row,
    describe_run,
    fingerprint,
    finite,
    held,
    ids,
    open_run,
    read_reply,
    read_rows,
    rows_path,
)

LIMITS: Mapping[Task, int] = {"search": 100, "ask": 5}
"""Results of a search where none is given: BEIR reports to 100; a question that is answered has 5."""

HOPELESS = (UsageError, MissingExtra, EncoderMismatch, Degraded)
"""Errors that the next question would meet too: they end the run instead of filling it with failures."""

Asked = tuple[str, Question]
"""A recipe and a question that is put to it."""

Also = Callable[[str], tuple[str, ...]]
"""A document's id to its other sources; see `Asker.also`."""


class Asker(Protocol):
    """What is measured: a collection and its recipes."""

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """The hits of a recipe, best first."""
        ...

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer of a recipe."""
        ...

    def also(self, document_id: str) -> tuple[str, ...]:
        """Every other source of a document in the collection; empty for a document that is not in it."""
        ...


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a call of `run` did; `failed` counts the questions whose row has an error, earlier ones included."""

    directory: Path
    asked: Mapping[str, int]
    skipped: Mapping[str, int]
    failed: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "directory": str(self.directory),
            "asked": dict(self.asked),
            "skipped": dict(self.skipped),
            "failed": dict(self.failed),
        }


def run(
    asker: Asker,
    dataset: Dataset,
    recipes: Sequence[str],
    out: Path,
    *,
    limit: int | None = None,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    collection: str | None = None,
    outside: str | None = None,
    parallel: int = 1,
    together: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Put every question to every recipe and keep a row of each.

    `settings` are each recipe's, by its name: kept in run.json, hashed into every row, compared on `resume`. `outside`,
    where the asker lets recipes look, is kept and compared too; `collection`, the name of what is asked, is kept.
    `parallel` questions are asked at a time, which pays where a chat model answers; rows keep the order of the
    questions, and the seconds of each include what it waited for the others. `together` asks question by question,
    every recipe in turn, so that recipes find remembered what others have just read; what a row took then says nothing
    of its recipe. It is kept and compared as well.
    `progress` is called with the number of questions just finished (those of earlier runs at once).
    """
    recipes = list(dict.fromkeys(recipes))
    if not recipes:
        raise UsageError("no recipe to run", subject=dataset.spec, next_step="name one with --recipe")
    if limit is not None and limit < 1:
        raise UsageError(f"limit is {limit}", subject=dataset.spec, next_step="give a number from 1")
    if parallel < 1:
        raise UsageError(f"parallel is {parallel}", subject=dataset.spec, next_step="give a number from 1")
    limit = LIMITS[dataset.task] if limit is None else limit
    settings = {recipe: finite((settings or {}).get(recipe, {})) for recipe in recipes}
    described = describe_run(
        dataset, recipes, limit=limit, settings=settings, outside=outside, collection=collection, together=together
    )
    open_run(out, described, resume=resume)
    configs = {recipe: fingerprint({"recipe": recipe, "settings": settings[recipe]}) for recipe in recipes}
    also = cache(asker.also)

    def row_of(one: Asked) -> Row:
        recipe, question = one
        config, alone = configs[recipe], parallel == 1
        return put(asker, also, question, recipe, config, task=dataset.task, limit=limit, alone=alone)

    files: dict[str, LineFile] = {}
    done: dict[str, set[str]] = {}
    failed: dict[str, int] = {}
    with held(out):
        for recipe in recipes:
            path = rows_path(out, recipe)
            files[recipe] = LineFile(path)
            earlier = read_rows(path)
            done[recipe] = ids(earlier)
            failed[recipe] = sum(row.error is not None for row in earlier)
        every = in_turn(recipes, dataset.questions) if together else product(recipes, dataset.questions)
        left = [(recipe, question) for recipe, question in every if question.id not in done[recipe]]
        counts = Counter(recipe for recipe, _ in left)
        asked = {recipe: counts[recipe] for recipe in recipes}
        skipped = {recipe: len(dataset.questions) - counts[recipe] for recipe in recipes}
        if progress is not None and any(skipped.values()):
            progress(sum(skipped.values()))
        for row in in_order(row_of, left, parallel):
            files[row.recipe].add(row.to_dict())
            failed[row.recipe] += row.error is not None
            if progress is not None:
                progress(1)
    return RunReport(out, asked, skipped, failed)


def in_turn(recipes: Sequence[str], questions: Iterable[Question]) -> Iterator[Asked]:
    """Every recipe's first question, then every recipe's second."""
    return ((recipe, question) for question in questions for recipe in recipes)


def in_order(row_of: Callable[[Asked], Row], asked: Iterable[Asked], parallel: int) -> Iterator[Row]:
    """The rows in the order of what is asked, of which at most `parallel` are asked at a time."""
    if parallel == 1:
        yield from map(row_of, asked)
        return
    with ThreadPoolExecutor(parallel) as pool:
        waiting: deque[Future[Row]] = deque()
        try:
            for one in asked:
                waiting.append(pool.submit(row_of, one))
                if len(waiting) >= 2 * parallel:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


# --- one question -----------------------------------------------------------------------------------------------------


def put(
    asker: Asker,
    also: Also,
    question: Question,
    recipe: str,
    config: str,
    *,
    task: Task,
    limit: int,
    alone: bool = True,
) -> Row:
    """Ask one question. An error on purpose becomes part of the row; any other is a bug and passes through.

    Processor time is the whole process's, so it is told only of a question that is asked `alone`.
    """
    answer: Answer | None = None
    found: SearchResult | None = None
    errors: list[ThresherError] = []
    seconds = search_seconds = None
    processor = time.process_time()
    if task == "ask":
        started = time.perf_counter()
        try:
            answer = asker.ask(question.question, recipe=recipe)
        except HOPELESS:
            raise
        except ThresherError as error:
            errors.append(error)
        seconds = time.perf_counter() - started
    cpu_seconds = time.process_time() - processor
    # An answer shows what was used, not the ranking; so labelled questions are searched for as well.
    if task == "search" or question.relevance:
        started = time.perf_counter()
        try:
            found = asker.search(question.question, recipe=recipe, limit=limit)
        except HOPELESS:
            raise
        except ThresherError as error:
            errors.append(error)
        search_seconds = time.perf_counter() - started
        if task == "search":
            cpu_seconds = time.process_time() - processor
    steps = () if answer is None else answer.steps
    degraded = [*(answer.degraded if answer else ()), *(found.degraded if found else ())]
    return Row(
        question=question,
        recipe=recipe,
        config=config,
        seconds=seconds if seconds is not None else search_seconds or 0.0,
        ranking=None if found is None else tuple(place_of(hit, also) for hit in found.hits),
        search_seconds=search_seconds,
        reply=None if answer is None else reply_of(answer, also),
        error="; ".join(f"{type(error).__name__}: {error}" for error in errors) or None,
        degraded=tuple(dict.fromkeys(degraded)),
        unreadable=sum(counted(step, "unreadable") for step in steps),
        timed_out=any(map(is_timeout, errors)) or any(counted(step, "timed_out") for step in steps),
        context=context_of(steps),
        cpu_seconds=cpu_seconds if alone else None,
        memory_mib=peak_memory(),
        generator="" if answer is None or answer.abstained else named(steps, "generate", "model", "reader"),
        judge=named(steps, "judge", "scorer"),
    )


def context_of(steps: Sequence[Step]) -> tuple[Context, ...] | None:
    """What was handed to the generator, where the steps say."""
    for step in steps:
        if isinstance(step.value, Refined):
            return tuple(map(describe_evidence, step.value.evidence))
    return None


def describe_evidence(piece: Evidence) -> Context:
    """What is kept of a piece of evidence."""
    return Context(piece.hit.chunk.source, piece.start, piece.end, piece.text, piece.page, piece.hit.origin)


def named(steps: Sequence[Step], slot: str, *names: str) -> str:
    """The first of the details that the slot's step tells, or nothing."""
    told = (step.detail.get(name) for step in steps if step.name == slot for name in names)
    return next((str(value) for value in told if value), "")


def peak_memory() -> float:
    """The most memory this process has held so far, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def place_of(hit: Hit, also: Also) -> Place:
    """What is kept of a hit; a page from the web has no other sources."""
    chunk, score = hit.chunk, hit.score
    others = also(chunk.document_id) if hit.origin is Origin.INSIDE else ()
    return Place(chunk.source, others, chunk.page, chunk.start, chunk.end, score.value, str(score.scale))


def reply_of(answer: Answer, also: Also) -> Reply:
    """What is kept of an answer: its JSON form, with every source of a citation, and numbers and words of steps."""
    kept = answer.to_dict()
    del kept["question"], kept["recipe"]
    kept["citations"] = [describe_citation(citation, also) for citation in answer.citations]
    kept["steps"] = [{**step, "detail": short(step["detail"])} for step in kept["steps"]]
    return read_reply(finite(kept))


def short(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A step's numbers and words; lists of texts and tables can be long and are in the trace."""
    return {name: value for name, value in detail.items() if value is None or isinstance(value, str | int | float)}


def describe_citation(citation: Citation, also: Also) -> dict[str, Any]:
    """A citation's JSON form and its document's other sources."""
    others = also(citation.document_id) if citation.origin is Origin.INSIDE else ()
    return {**citation.to_dict(), "also": list(others)}


def counted(step: Step, name: str) -> int:
    """A count among a step's details: a number, a list of what is counted, or true."""
    value = step.detail.get(name, 0)
    return int(value) if isinstance(value, int | float) else len(value)


def is_timeout(error: BaseException | None) -> bool:
    """Whether an error was caused by waiting too long."""
    while error is not None:
        if isinstance(error, TimeoutError) or "timeout" in type(error).__name__.lower():
            return True
        error = error.__cause__ or error.__context__
    return False


# --- A recipe with settings of its own in one word: `crag[upper=0.6,decompose=selection]` -----------------------------


VARIANT = re.compile(r"(?P<recipe>[^\[\]]+)(?:\[(?P<settings>[^\[\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe and the settings that make it another one."""

    recipe: str
    settings: Mapping[str, str]


def parse_variant(name: str) -> Variant:
    """The recipe and the settings in a name; a plain recipe has none."""
    found = VARIANT.fullmatch(name.strip())
    if found is None:
        raise UsageError("not RECIPE or RECIPE[key=value,...]", subject=name, next_step="e.g. crag[upper=0.6]")
    given = [part.strip() for part in (found["settings"] or "").split(",") if part.strip()]
    return Variant(found["recipe"].strip(), parse_assignments(given, parameter="recipe", example="upper=0.6"))


# --- A collection as the harness asks it: with fixed settings, the models loaded before the clock starts --------------


WARM_UP_QUESTION = "What is this about?"

BUCKETS = 10_000
"""Questions are dealt into as many parts by their hash, so that shares are exact to a hundredth of a percent."""


class CollectionAsker:
    """Puts questions to one collection; a setting counts for the recipes that have it.

    A recipe may be a variant (`crag[upper=0.6]`), whose own settings come last and must be settings of that recipe.
    `outside` (as of `--outside`) counts for the recipes that correct, so that others can be asked in the same run; a
    place that is not there is refused at once, also where no recipe would look.

    With `degraded` (0 to 1) retrieval inside is made worse on purpose (CRAG, arXiv:2401.15884v3, Figure 3): of the
    `questions` with gold documents inside, that share may still find them; from the others these are hidden.
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
        self._collection = collection
        self._settings = dict(settings)
        self._outside = outside
        self._degraded = degraded
        self._hidden = {} if degraded is None else hidden(collection, questions, degraded)

    def settings_of(self, recipe: str) -> dict[str, Any]:
        """All settings that `recipe` runs with, and `degraded` where retrieval is.

        Raises UnknownSetting for a setting no recipe has.
        """
        check_known(self._settings, recipes.settings_keys())
        name, settings = self._own(recipe)
        worse = {} if self._degraded is None else {"degraded": self._degraded}
        return {**self._collection.settings(name, settings), **worse}

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """Ranked hits."""
        name, settings = self._own(recipe)
        where = self._hidden.get(question)
        return self._collection.search(question, recipe=name, limit=limit, where=where, settings=settings)

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer."""
        name, settings = self._own(recipe)
        outside = self._outside if recipes.get(name).corrects else None
        where = self._hidden.get(question)
        return self._collection.ask(question, recipe=name, outside=outside, where=where, settings=settings)

    def also(self, document_id: str) -> tuple[str, ...]:
        """The other sources of a document."""
        return self._collection.also(document_id)[1:]

    def warm_up(self, recipe: str) -> None:
        """Load what a first question would load."""
        name, settings = self._own(recipe)
        self._collection.search(WARM_UP_QUESTION, recipe=name, settings=settings)

    def _own(self, recipe: str) -> tuple[str, dict[str, Any]]:
        variant = parse_variant(recipe)
        model = recipes.get(variant.recipe).settings
        check_known(variant.settings, keys(model))
        return variant.recipe, {**own(model, self._settings), **variant.settings}


def hidden(collection: Collection, questions: Iterable[Question], share: float) -> dict[str, str]:
    """The question's text to the filter that hides its gold documents, for all but `share` (0 to 1) of the questions.

    Which ones is a matter of sha1("degrade:" + id): those that find their documents at one share find them at every
    higher one. What is hidden is every document that a gold source names by any of its own sources. Questions of one
    text are asked alike, so the gold documents of all of them that are not in the share are hidden from each.
    """
    if not 0 <= share <= 1:
        raise UsageError("is not a share", subject=f"degraded {share:g}", next_step="give a number from 0 to 1")
    documents = {name: record.source for record in collection.documents() for name in (record.source, *record.also)}
    gone: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        if sha1_number(f"degrade:{question.id}") % BUCKETS < share * BUCKETS:
            continue
        gold = [source for source, grade in question.relevance.items() if grade > 0]
        gone[question.question].update(documents[name] for source in gold for name in _named(source, documents))
    return {
        text: f"source NOT IN ({', '.join(map(_quoted, sorted(sources)))})" for text, sources in gone.items() if sources
    }


def _named(gold: str, sources: Mapping[str, str]) -> list[str]:
    """The sources that a gold source names: itself, or all that end with it."""
    return [gold] if gold in sources else [source for source in sources if matches(gold, source)]


def _quoted(source: str) -> str:
    """A source as a text in a filter."""
    return "'" + source.replace("'", "''") + "'"


# --- the collections that a dataset's questions are put to: their names and the files they are indexed from -----------


def collection_of(dataset: Dataset) -> str:
    """Name of the collection the questions are asked of; a dataset that makes its documents has their hash in it."""
    if dataset.corpora:
        contents = "".join(corpus.sha256 for corpus in dataset.corpora.values())
        return f"{dataset.kind}-{dataset.name}-{hashlib.sha256(contents.encode()).hexdigest()[:8]}"
    if dataset.corpus is None:
        return "default"
    match dataset.kind:
        case "beir":
            return f"beir-{dataset.path.resolve().name}"
        case "papers":
            return "papers"
        case _:  # a pool, which several question files share
            return f"wikipedia-{digest(dataset.corpus)[:8]}"


def outside_of(dataset: Dataset, name: str) -> str:
    """Where recipes that correct look, beside the collection called `name`, when the dataset decides."""
    return f"collection:{outside_name(name)}" if Origin.OUTSIDE in dataset.corpora else "none"


def outside_name(name: str) -> str:
    """Name of the collection of what was taken out of the collection called `name`."""
    return f"{name}-outside"


def files(dataset: Dataset, home: Path, name: str, *, outside: str) -> Iterator[tuple[Path, str]]:
    """Files to index and the collection each belongs to; documents outside only where `outside` points to them.

    What a dataset makes is written below `home`, under names that hold its hash, and stays there: a collection knows
    its documents by their files. A pool is indexed under its own name only; a collection of another name is asked as
    it is.
    """
    if dataset.corpus is not None and (not is_pool(dataset) or name == collection_of(dataset)):
        for file in papers_in(dataset.corpus) if dataset.corpus.is_dir() else [dataset.corpus]:
            yield file, name
    for origin, corpus in dataset.corpora.items():
        owner = name if origin is Origin.INSIDE else outside_name(name)
        if origin is Origin.INSIDE or outside == outside_of(dataset, name):
            yield corpus.write(home / "datasets" / f"{collection_of(dataset)}-{origin}.jsonl"), owner


def is_pool(dataset: Dataset) -> bool:
    """Whether the corpus is one that other question files are asked of too."""
    return dataset.kind not in ("beir", "papers")


def papers_in(folder: Path) -> list[Path]:
    """The PDFs that lie in a folder itself: what lies deeper (broken files, say) does not belong to the dataset."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() == ".pdf")
