"""One run: the expectations of a file, the documents now, and perhaps another state to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any

import thresher
from thresher import Collection, recipes
from thresher.errors import ThresherError, UsageError
from thresher.judging.scorers import LogOdds
from thresher.protocols import in_silence
from thresher_ci import knowledge
from thresher_ci.asking import Asker, digest, environment
from thresher_ci.comparison import Difference, compared, unmet_now
from thresher_ci.documents import COLLECTION, LAST, Workplace, contents, files_at, files_of
from thresher_ci.knowledge import Question
from thresher_ci.outcome import Outcome, holds
from thresher_ci.report import Report


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked of what. Without `documents` the collection is asked as it is."""

    file: Path
    home: Path
    collection: str
    documents: Path | None
    recipe: str
    settings: Mapping[str, Any]
    strict: bool = False
    tell: Callable[[str], None] = in_silence
    """Called with a line for each document that cannot be read."""

    def run(self, against: str = "") -> Report:
        """Ask, compare, and record what was found. Raises ThresherError before anything is recorded."""
        started = perf_counter()
        questions = self._questions()
        place = Workplace(self.home)
        with place.alone():
            old = self._old(place, questions, against) if against else None
            with self._now(place) as collection:
                asker = self._asker(collection, place)
                new = {one.question: one for one in asker(questions)}
                check = Reader(collection)
                if old is None:
                    sources = {place.relative(one.source) for one in collection.documents()}
                    found = list(unmet_now(questions, new, check, sources))
                else:
                    found = list(compared(questions, old, new, check))
                found = list(located(found, collection, place.relative))
            seconds = round(perf_counter() - started, 3)
            report = Report(against, tuple(found), asker.again, seconds, str(self.file))
            place.record(self._state(place), list(new.values()))
            place.show_on_page(report.to_dict(), self.collection if self.documents is None else COLLECTION)
        return report

    def _questions(self) -> list[Question]:
        """Those of the file; UsageError with the line for a recipe that there is not."""
        questions = knowledge.read(self.file)
        for one in questions:
            try:
                recipes.get(one.recipe or self.recipe)
            except UsageError as error:
                raise UsageError(str(error), subject=f"{self.file}, line {one.line}") from error
        return questions

    def _now(self, place: Workplace) -> Collection:
        if self.documents is None:
            return thresher.open(self.home, self.collection)
        return self._indexed(place, files_of(self.documents, without=self.file))

    def _indexed(self, place: Workplace, files: Mapping[str, Path]) -> Collection:
        """The collection of a state of the documents."""
        if not files:
            raise UsageError("holds no documents", subject=str(self.documents))
        place.show(files)
        collection = place.collection()
        report = collection.add(place.documents, prune=True, recipe=self.recipe, settings=self.settings)
        for error in report.failed:
            self.tell(f"not read: {error}")
        return collection

    def _asker(self, collection: Collection, place: Workplace) -> Asker:
        return Asker(collection, self.recipe, self.settings, place.relative, place.known(), self.strict)

    def _state(self, place: Workplace, files: Mapping[str, Path] | None = None) -> str:
        """The name of the run of a state, by default that of now: documents, questions, settings, engine, day."""
        if self.documents is None:
            return digest([str(self.home), self.collection])[:32]
        files = files_of(self.documents, without=self.file) if files is None else files
        recipes_of = [(one.question, one.recipe) for one in self._questions()]
        around = [environment(place.collection(), self.recipe, self.settings), date.today().isoformat()]
        return digest([contents(files), recipes_of, around])[:32]

    # --- the state to compare with

    def _old(self, place: Workplace, questions: Sequence[Question], against: str) -> dict[str, Outcome]:
        """The outcomes of the state to compare with: recorded, of another home, or of a git ref."""
        if against == LAST:
            if found := place.recorded(LAST):
                return found
            raise UsageError("no run was recorded yet", subject="`against` last", next_step="run thresher ci once")
        if (Path(against) / "collections").is_dir():
            with thresher.open(against, self.collection) as other:
                return {one.question: one for one in self._asker(other, place)(questions)}
        if self.documents is None:
            what, advice = "is no home and no recorded run", "give a git ref together with `documents` FOLDER"
            raise UsageError(what, subject=f"`against` {against}", next_step=advice)
        with files_at(self.documents, against, without=self.file) as files:
            state = self._state(place, files)
            recorded = place.recorded(state)
            if all(one.question in recorded for one in questions):
                return recorded
            with self._indexed(place, files) as collection:
                found = {one.question: one for one in self._asker(collection, place)(questions)}
            place.record(state, list(found.values()))
        return found


class Reader:
    """What the engine reads of sentences with the models of a collection, each of them once."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._states: dict[tuple[str, str], str] = {}

    def __call__(self, sentence: str, passage: str) -> str:
        """Whether a passage supports a sentence; the least supported claim counts."""
        if (sentence, passage) not in self._states:
            states = {str(claim.state) for claim in self._collection.check(sentence, evidence=[passage]).claims}
            worst = (state for state in ("contradicted", "unverified", "supported", "quoted") if state in states)
            self._states[sentence, passage] = next(worst, "unverified")
        return self._states[sentence, passage]

    def answers(self, question: str, sentence: str, title: str) -> bool:
        """Whether the judge takes it for more probable than not that a sentence answers the question."""
        (reading,) = self._collection.opened.models.judge().read(question, [sentence], [title])
        return LogOdds()(reading.relevance) > 0.5


def located(
    found: Sequence[Difference], collection: Collection, relative: Callable[[str], str]
) -> Iterator[Difference]:
    """The differences; a broken one says where the expected words stand now, or that they stand nowhere."""
    texts: dict[str, str] = {}
    for one in found:
        quote = one.question.expected.quote
        if one.kind == "broken" and quote:
            texts = texts or {relative(of.source): collection.document(of.id).text for of in collection.documents()}
            there = next((source for source, text in texts.items() if holds(text, quote)), "nowhere")
            one = replace(one, why=f"{one.why}; its words stand {there if there == 'nowhere' else f'in {there}'}")
        yield one


def watched(job: Job, against: str, *, wait: Callable[[], object]) -> Iterator[Report]:
    """A run, and another whenever the expectations or a document changed; `wait` passes the time between two looks.

    Raises what is wrong with the first run; later it is told, as a file may be half written.
    """
    seen: object = None
    while True:
        files = {} if job.documents is None else files_of(job.documents, without=job.file)
        states = [(file, file.stat().st_mtime_ns) for file in (job.file, *files.values()) if file.exists()]
        if states != seen:
            first, seen = seen is None, states
            try:
                report = job.run(against)
            except ThresherError as error:
                if first:
                    raise
                job.tell(str(error))
            else:
                yield report
        wait()
