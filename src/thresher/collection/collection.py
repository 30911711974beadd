"""The front of the engine: a collection of documents that can be added to, searched and asked.

with thresher.open(home="notes") as collection:
    collection.add("papers/")
    print(collection.ask("How many layers has BERT-base?").text)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from thresher import recipes
from thresher.answer import Answer
from thresher.collection.asking import Asking
from thresher.collection.opened import Opened
from thresher.collection.options import (
    DEFAULT_LIMIT,
    AddOptions,
    AskOptions,
    SearchOptions,
    check_names,
    check_options,
    check_question,
)
from thresher.errors import UsageError, check_type
from thresher.home import places
from thresher.models.usage import Meter
from thresher.protocols import Counting, Files, Home
from thresher.settings import dotted, flat
from thresher.types import Check, Document, Metadata, Public, SearchResult, Step

if TYPE_CHECKING:
    from thresher.collection.documents import Documents
    from thresher.collection.maintenance import Maintenance
    from thresher.correction.providers import WebSearch
    from thresher.indexing.catalog import DocumentRecord, SourceRef
    from thresher.indexing.doctor import Finding
    from thresher.indexing.ingest import Report
    from thresher.judging.calibration import Calibration, Calibrations
    from thresher.judging.certificate import Certificate, Certificates, NotCertified
    from thresher.recipes.check import GivenPassage
    from thresher.recipes.components import Models
    from thresher.recipes.evidence import EvidenceResult
    from thresher.tracing.feedback import Feedback, Label
    from thresher.tracing.traces import Traces


class Collection:
    """Documents and the questions asked of them; cheap to make, everything is loaded at its first use.

    A context manager: `close` lets go of the models, what was committed is on disk already.
    """

    def __init__(
        self,
        home: Home,
        name: str,
        *,
        completing: Callable[[int, int], None] | None = None,
        models: Models | None = None,
        source_name: Callable[[str], str] | None = None,
        within: str | None = None,
    ) -> None:
        """`within` is a filter: documents that it does not hold for are as if they were not there; none is changed."""
        self.opened = Opened(home, name, completing=completing, models=models, source_name=source_name, within=within)
        """What every method stands on."""
        self._asking = Asking(self.opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the models; what was committed is on disk already. Whatever is asked afterwards is a UsageError."""
        self.opened.close()
        if (other := self.__dict__.get("as_indexed")) is not None:
            other.close()

    @cached_property
    def as_indexed(self) -> Collection:
        """The same collection for callers who may not change it: a question makes no index, NotIndexed without one."""
        other = object.__new__(Collection)
        other.opened = self.opened.as_indexed()
        other._asking = Asking(other.opened)
        return other

    @cached_property
    def _documents(self) -> Documents:
        from thresher.collection.documents import Documents

        return Documents(self.opened)

    @cached_property
    def _maintenance(self) -> Maintenance:
        from thresher.collection.maintenance import Maintenance

        return Maintenance(self.opened, self._asking)

    @property
    def home(self) -> Home:
        """Where all collections are."""
        return self.opened.home

    @property
    def name(self) -> str:
        """Which one it is."""
        return self.opened.name

    @property
    def folder(self) -> Home:
        """Where its tables are."""
        return self.opened.folder

    @property
    def files(self) -> Files:
        """Its small files: traces, labels, calibrations."""
        return self.opened.files

    @property
    def traces(self) -> Traces:
        """The stored answers."""
        return self.opened.traces

    @property
    def calibrations(self) -> Calibrations:
        """What its judges are worth here, where that was learned."""
        return self.opened.calibrations

    @property
    def certificates(self) -> Certificates:
        """What is certified of the answers of its recipes."""
        return self.opened.certificates

    @property
    def labels(self) -> Feedback:
        """What people reported about answers."""
        return self.opened.labels

    @property
    def purge_remark(self) -> str:
        """What `delete(purge=True)` cannot reach, in words: old versions that a remote home keeps."""
        return places.purge_remark(self.opened.folder)

    # --- documents

    def add(self, *sources: str | Path, **options: Unpack[AddOptions]) -> Report:
        """Take in files, folders, URLs and `-` (stdin); unchanged ones are skipped, changed ones replaced.

        Broken inputs are listed in the report's `failed`; everything else is committed. A document whose file was
        moved is cited from where its text was met. Other files that are gone from the given folders are among the
        report's `remarks`. Options: `AddOptions`; UnknownSetting for another one.
        """
        check_names("add", options, AddOptions)
        return self._documents.add(sources, options)

    def add_text(
        self,
        text: str,
        *,
        source: str,
        title: str = "",
        metadata: Metadata | None = None,
        recipe: str | recipes.Recipe | Sequence[str | recipes.Recipe] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """Take in a text, read as Markdown, under a source that names it alone, such as `ticket:4711`.

        The same source with another text replaces the document. A text without words is among the report's `failed`.
        Raises UsageError for what is no text and for an empty source.
        """
        return self._documents.add_text(text, source, title, metadata, recipe, settings)

    def delete(self, *sources: str | Path | SourceRef, purge: bool = False) -> list[str]:
        """Forget sources (a file, a URL, a corpus and all its rows, a `SourceRef`); returns the sources that went.

        A document that is known from another source too stays under that one. `purge` also drops old versions of the
        tables and the traces, labels and training data that quote the sources, of sources deleted before, too; but not
        the old versions that a home itself keeps (`purge_remark`).
        """
        return self._documents.delete(sources, purge=purge)

    def purge_deleted(self, name: str) -> list[str]:
        """Purge the sources of a file name that were deleted or replaced before. UnknownSetting where there is none."""
        return self._documents.purge_deleted(name)

    def holding(self, text: str) -> list[str]:
        """The tables and files of the collection and of its home that hold a text; none after a purge of it."""
        check_type("text", text, str, "words that were in a document, or its source")
        return list(self._documents.forgetting.holding(text))

    def documents(self, *, where: str | None = None) -> list[DocumentRecord]:
        """All documents in the order they were added, or those that a filter on their fields holds for."""
        return self._documents.records(where)

    def document(self, document_id: str) -> Document:
        """A document with its text."""
        check_type("document_id", document_id, str, "the id of a document, see `documents()`")
        return self.opened.named(self.opened.existing().document(document_id))

    def also(self, document_id: str) -> tuple[str, ...]:
        """All sources of a document, the first one first."""
        return self.opened.named({"also": self.opened.existing().also([document_id])[document_id]})["also"]

    def tables(self) -> list[dict[str, Any]]:
        """The chunk tables: `name`, `fingerprint`, `level`, `encoder`, `chunks`, `bytes` and `recipes` that use it.

        `estimated` is what ECRAG's formulas expect (X3 in docs/methods.md) of tables that are cut as it does.
        """
        return self._documents.tables()

    def ready(self) -> list[str]:
        """The recipes that can be asked without an index being made."""
        return self._documents.ready()

    def index(self, recipe: str, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Make what the index of a recipe lacks, as a question would; the chunks made. `progress` is of documents."""
        return self._documents.index(recipe, progress)

    def discard(self, recipe: str) -> list[str]:
        """Remove the index of a recipe, not of the usual one; the recipes that used it. The documents stay."""
        return self._documents.discard(recipe)

    def extractions(self) -> dict[str, int]:
        """Documents by the extraction that read them: `current`, `older`, `unknown`; `add` renews its own."""
        return self._documents.extractions()

    def storage(self) -> dict[str, int]:
        """What it takes on disk: `files`, `bytes`, and `versions`, the most that one of its tables keeps."""
        return self._documents.storage()

    def doctor(self, *, repair: bool = True, settings: Mapping[str, Any] | None = None) -> list[Finding]:
        """Check the collection on disk, mend what can be mended, and drop old versions of its tables."""
        return self._maintenance.doctor(self._documents.forgetting, settings, repair=repair)

    # --- questions

    def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """Ranked hits, after judging where the recipe judges; never goes outside.

        With `max_tokens` instead of hits the best verbatim spans that fit, and the verdict: cut from what the recipe
        would hand a generator, with heading and with the sentence that a span leans on. Tokens are the bundled
        encoder's; those of a chat model differ by some 10 to 20 % (`thresher.models.encoders`). Options:
        `SearchOptions`; UnknownSetting for another one.
        """
        check_names("search", options, SearchOptions)
        return self._asking.search(question, options)

    def rarity(
        self,
        text: str,
        *,
        recipe: str | recipes.Recipe = recipes.DEFAULT,
        settings: Mapping[str, Any] | None = None,
    ) -> Mapping[str, float]:
        """BM25's idf of each term of a text among the chunks that a recipe reads. UsageError where it reads none."""
        configured, parts = self.opened.configured(recipe, settings), self.opened.parts()
        config = recipes.get(recipe).index_config(configured, parts)
        if config is None:
            raise UsageError("reads no documents", subject=f"recipe {recipes.get(recipe).name}")
        self.opened.existing()
        return parts.rarity(parts.table(config))(text)

    def resting_on(self, source: str) -> list[dict[str, Any]]:
        """The stored answers that cite a document of this source, here or deleted before, the newest first."""
        check_type("source", source, str, "a file, an address, or the end of a path")

        def cites(answer: Mapping[str, Any]) -> bool:
            cited = (one["source"] for one in answer["citations"])
            return any(one == source or one.endswith(f"/{source}") for one in cited)

        self.opened.existing()
        return [one for one in self.opened.named(list(self.traces.all())) if cites(one)]

    def evidence(
        self,
        question: str,
        *,
        recipe: str | recipes.Recipe = recipes.DEFAULT,
        limit: int = DEFAULT_LIMIT,
        outside: str | WebSearch | None = None,
        where: str | None = None,
        settings: Mapping[str, Any] | None = None,
        refined: bool = False,
        strict: bool = False,
    ) -> EvidenceResult:
        """The evidence that `ask` would answer from, with the verdict: for callers that write the answer themselves.

        At most `limit` passages; none where the verdict is incorrect and nothing was found `outside`. With `refined`
        each is cut to its sentences that are evidence, and has some. Nothing is stored.
        """
        if refined:
            settings = {"refine.of": "all", **dict(dotted(settings or {}))}
        return self._asking.evidence(question, recipe, limit, outside, where, settings, refined=refined, strict=strict)

    def check(
        self,
        text: str,
        *,
        evidence: Sequence[GivenPassage] | None = None,
        recipe: str | recipes.Recipe = recipes.DEFAULT,
        where: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Check:
        """Every claim of a text checked against the documents or given passages: its state, and the spans that show it.

        Of the documents those passages are read that `recipe` retrieves for the claim; no chat model is asked. Raises
        UsageError for a text without words and for a passage that is none.
        """
        return self._asking.check(text, evidence, recipe, where, settings)

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """The answer with its citations, or an abstention with its reason; stored as a trace. Options: `AskOptions`."""
        *_, last = self.run(question, **options)
        assert isinstance(last, Answer)
        return last

    def run(
        self, question: str, *, meter: Meter | None = None, **options: Unpack[AskOptions]
    ) -> Generator[Step | Answer, None, None]:
        """The steps of `ask` as they finish, the answer last; what they cost is counted on `meter`, with its budget.

        What cannot be asked is refused by the call, before the first step.
        """
        self.check_asked(question, options)
        return self._asking.run(question, meter, options)

    def stream(
        self, question: str, *, meter: Meter | None = None, **options: Unpack[AskOptions]
    ) -> Generator[str | Answer, None, None]:
        """The sentences of the answer, each as soon as it is written and checked, and the whole answer last.

        Nothing is taken back: the sentences are the answer's text, put together. What cannot be asked is refused by the
        call. A reader that leaves before the end ends the question.
        """
        from thresher.collection.streaming import streamed

        self.check_asked(question, options)
        counted = meter or Meter.of(options)

        def run(on_sentence: Callable[[str], None]) -> Iterable[Step | Answer]:
            options["on_sentence"] = on_sentence
            return self.run(question, meter=counted, **options)

        return streamed(run, counted)

    def check_asked(self, question: str, options: AskOptions) -> None:
        """Raise UsageError for a closed collection, a question without words, and options that `ask` does not have."""
        self.opened.check_open()
        check_question(question)
        check_options(options)

    def stored(self, trace: str = "last") -> dict[str, Any]:
        """A stored answer with the fate of every chunk, as JSON. Raises UsageError when there is none."""
        check_type("trace", trace, str, "the id of an answer, or last")
        return self.opened.named(self.traces.load(trace))

    def replay(self, trace: str = "last") -> tuple[Answer, list[str]]:
        """Ask the question of a stored answer again, with the replies and pages that were stored with it.

        Nothing is sent anywhere. Returns the answer and how it differs from the stored one (nothing, unless the
        documents or Thresher changed). Raises NotRecorded when something is needed that was not stored.
        """
        check_type("trace", trace, str, "the id of an answer, or last")
        return self._asking.replay(trace)

    def feedback(self, trace: str | Answer, right: bool, answer: str | None = None, *, by: str = "") -> Label:
        """Keep what a person says of an answer, given itself or by its trace (or `last`), with the right one if known.

        `calibrate` and `train_judge` read it; of several labels `by` one person for one answer the last counts.
        Raises UsageError for a trace that there is not.
        """
        return self._maintenance.feedback(trace, right, answer, by)

    def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None = None,
        *,
        recipe: str | recipes.Recipe = "corrective",
        number: int = 200,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Calibration:
        """Learn and store what a recipe's judge is worth here; later questions use it and say so.

        For `corrective` that is the curve of the trained judge, and how much a configured chat model counts; for a
        recipe with printed bounds, others in their place. `questions` are (question, whether the documents answer it);
        without any, `number` are made of the documents. Feedback counts beside either. `progress` gets the number of
        searches just finished. Raises UsageError for too few questions and for a recipe that decides by no bounds.
        """
        return self._maintenance.calibrate(questions, recipe, number, seed, settings, progress)

    def certify(
        self,
        at_most_wrong: float | None = None,
        *,
        risk: float | None = None,
        confidence: float = 0.95,
        labels: Path | None = None,
        recipe: str = "corrective",
        settings: Mapping[str, Any] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Certificate | NotCertified:
        """Certify and store that at most this share of a recipe's answers is wrong, by what people said of answers.

        `risk` bounds the share of all questions that is answered wrongly, on average, in its place. Feedback counts,
        and a file of `labels` (JSON lines: question, answer, right); each question is asked again, and its label counts
        where the same answer is given. Too few labels are a result; labels that do not allow the level withdraw an
        earlier certificate. Raises UsageError for a level outside 0 to 1, damaged labels and no documents.
        """
        return self._maintenance.certify(at_most_wrong, risk, confidence, labels, recipe, settings, progress)

    def measure_budget(
        self,
        questions: Sequence[tuple[str, Sequence[str]]] | None = None,
        *,
        recipe: str | recipes.Recipe = recipes.DEFAULT,
        number: int = 200,
        seed: int = 0,
        budgets: Sequence[int] = (),
        settings: Mapping[str, Any] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Public:
        """Which share of the answers stays in the spans of `search(..., max_tokens=...)` here, for several budgets.

        `questions` are (question, right answers); without any, `number` are made of the documents. `progress` gets the
        number of questions just finished. Nothing is stored. Raises UsageError where no question has an answer; needs
        the extra `evals`.
        """
        return self._maintenance.measure_budget(questions, recipe, number, seed, budgets, settings, progress)

    def bounds(
        self, recipe: str | recipes.Recipe, *, settings: Mapping[str, Any] | None = None
    ) -> tuple[float, ...] | None:
        """The lower and upper bound of a published recipe here, or the floor learned for it, on its scale; or None."""
        from thresher.recipes.judges import bounds_here

        return bounds_here(self.opened.pipeline(recipe, self.opened.configured(recipe, settings), self.opened.parts()))

    def train_judge(
        self,
        labels: Path | None = None,
        *,
        epochs: int = 4,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        counting: Counting | None = None,
    ) -> Public:
        """Train the judge further on a file of labels and on feedback; it is kept in the home if that made it better.

        Needs the extra `training`. A run that was cut off goes on from its last checkpoint when it is called again with
        the same. `counting` shows progress. Raises UsageError for labels that cannot be learned from.
        """
        return self._maintenance.train_judge(labels, epochs, seed, settings, counting)

    def settings(self, recipe: str | recipes.Recipe, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Every setting a recipe would run with here, by dotted key; secrets as stars."""
        return flat(self.opened.configured(recipe, settings))

    def check_outside(self, given: str | WebSearch | None) -> None:
        """Raise UsageError for an `outside` of `ask` that is no place, or not there, whatever recipe would look."""
        self.opened.outside(given)
