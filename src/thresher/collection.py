"""The front of the engine: a collection of documents that can be added to, searched and asked.

with thresher.open(home="notes") as collection:
    collection.add("papers/")
    print(collection.ask("How many layers has BERT-base?").text)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, Never, TypeVar, Unpack

from thresher import recipes
from thresher.answer import Answer
from thresher.deadline import within
from thresher.errors import BudgetSpent, Cancelled, StoreError, UnknownSetting, UsageError, WrongType, check_type
from thresher.filters import holds, parse, resolve
from thresher.indexing.catalog import DocumentRecord, Place
from thresher.models.usage import Exchanges, Meter
from thresher.opened import (
    AskOptions,
    OpenCollection,
    check_number,
    check_options,
    check_question,
    polite,
    search_option,
    turn,
    understood,
)
from thresher.pipeline import as_is as whole
from thresher.plugins import required
from thresher.protocols import Counting, in_silence
from thresher.questions import asks_about_whole, courtesy
from thresher.settings import CollectionSettings, collection_model, dotted, flat, flat_public, own, resolved
from thresher.tracing.traces import Request, replay
from thresher.types import Check, Document, Evidence, Metadata, Public, SearchResult, Step

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.forgetting import Forgetting
    from thresher.indexing.doctor import Finding
    from thresher.indexing.ingest import Report
    from thresher.inputs import IndexProgress
    from thresher.judging.calibration import Calibration
    from thresher.judging.certificate import Certificate, NotCertified
    from thresher.recipes.certify import AnswerLabel
    from thresher.recipes.check import GivenPassage
    from thresher.recipes.evidence import EvidenceResult
    from thresher.tracing.feedback import Label

DEFAULT_LIMIT = 5

CHECKED_PASSAGES = 8
"""Passages that a claim is checked against, as many as an answer is written from."""


class Collection(OpenCollection):
    """Documents and the questions asked of them; cheap to make, everything is loaded at its first use."""

    # --- documents

    def add(
        self,
        *sources: str | Path,
        recipe: str | recipes.Recipe | Sequence[str | recipes.Recipe] = (),
        include: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        prune: bool = False,
        reread: bool = False,
        metadata: Metadata | None = None,
        settings: Mapping[str, Any] | None = None,
        stdin: BinaryIO | None = None,
        progress: Callable[[IndexProgress], None] | None = None,
        announce: Callable[[str], None] | None = None,
        stop: Callable[[], bool] | None = None,
        public_only: bool = False,
        processes: int = 1,
        on: str | None = None,
    ) -> Report:
        """Take in files, folders, URLs and `-` (stdin); unchanged ones are skipped, changed ones replaced.

        Broken inputs are listed in the report's `failed`; everything else is committed. `prune` removes documents
        whose files vanished from the given folders; without it they are among the report's `remarks`. `reread` reads
        unchanged files too. `announce` gets what a chat model is about to be paid for. Once `stop`, asked between two
        documents, says so, what was read is committed and the rest is left. With `public_only` an address must be on
        the public internet. With `processes` so many processes of this machine read, cut and encode, with `on` the Ray
        cluster at an address (extra `ray`); this process commits.
        """
        started = perf_counter()
        for source in sources:
            check_type("source", source, (str, Path), "a path, an address, or - for standard input")
        if not sources:
            raise UsageError("nothing was given to add", next_step="give files, folders or addresses")
        check_type("metadata", metadata or {}, Mapping, "a mapping of names to values")
        from thresher.indexing.ingest import Ingest
        from thresher.inputs import Inputs, described, workers

        arguments = [str(source) for source in sources]
        parts = replace(self._parts(), announce=announce)
        around = self._kept_by(settings)
        indexed = self._indexed(_listed("recipe", recipe), settings, parts)
        configs = [config for _, _, config in indexed]
        reading = Inputs(
            arguments,
            _listed("include", include),
            _listed("exclude", exclude),
            stdin,
            metadata or {},
            self.home,
            progress,
            around.reading,
            stop,
            public_only=public_only,
        )
        making = partial(described, indexed, self._models.own_encoder)
        with workers(processes, on, making) as prepare, closing(reading.incoming()) as incoming:
            ingest = Ingest(self._store, configs, progress=reading.encoded, workers=prepare)
            report = ingest.run(incoming, vanished=reading.vanished, prune=prune, reread=reread)
        return replace(report, skipped=dict(reading.skipped), seconds=perf_counter() - started)

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
        from thresher.documents.cleaning import has_half_pair
        from thresher.indexing.ingest import Ingest
        from thresher.inputs import incoming_text

        for name, given in (("text", text), ("source", source), ("title", title)):
            check_type(name, given, str, "a text")
            if has_half_pair(given):
                raise UsageError("has half of a surrogate pair", subject=name, next_step="correct it")
        check_type("metadata", metadata or {}, Mapping, "a mapping of names to values")
        if not source.strip():
            raise UsageError("is empty", subject="source", next_step="give the text a name that is unique here")
        started = perf_counter()
        self._kept_by(settings)
        configs = self._index_configs(_listed("recipe", recipe), settings, self._parts())
        stated = {**(metadata or {}), **({"title": title} if title else {})}
        report = Ingest(self._store, configs).run([incoming_text(text, source, stated)])
        return replace(report, seconds=perf_counter() - started)

    def _kept_by(self, settings: Mapping[str, Any] | None) -> CollectionSettings:
        """How documents are read and kept; a new collection gets its store."""
        ours = own(collection_model(), dict(dotted(settings or {})))
        around = resolved(collection_model(), ours, home=self.home, known=recipes.settings_keys())
        if self._store.is_new:
            self._store.choose(around.store)
        return around

    def delete(self, *sources: str | Path | Place, purge: bool = False) -> list[str]:
        """Forget sources (a file, a URL, a corpus and all its rows, a `Place`); returns the sources that went.

        A document that is known from another source too stays under that one. `purge` also drops old versions of the
        tables and the traces, labels and training data that quote the sources, of sources deleted before, too; but not
        the old versions that a home itself keeps (`purge_remark`).
        """
        for source in sources:
            check_type("source", source, (str, Path, Place), "a file, an address or a corpus")
        places = [place for source in sources for place in self._meant(source, purge)]
        if purge:
            self._forgetting.purge(places)
        else:
            self._store.remove(places, files={place.file for place in places})
        return sorted({place.source for place in places})

    def _meant(self, source: str | Path | Place, purge: bool) -> list[Place]:
        if isinstance(source, Place):
            return [source]
        try:
            return self._places(str(source), self._existing().catalog().places())
        except UnknownSetting:
            if not purge:
                raise
            return self._forgetting.remembered(partial(self._places, str(source)), str(source))

    def purge_deleted(self, name: str) -> list[str]:
        """Purge the sources of a file name that were deleted or replaced before. UnknownSetting where there is none."""
        from thresher.links import file_name

        check_type("name", name, str, "the name of a file, or a source")
        forgetting = self._forgetting
        here = set(forgetting.store.catalog().places())

        def gone(places: set[Place]) -> list[Place]:
            found = sorted(one for one in places - here if name in (one.source, file_name(one.source)))
            if not found:
                raise UnknownSetting(name, [], kind="source that was deleted")
            return found

        places = forgetting.remembered(gone, name)
        forgetting.purge(places)
        return sorted({place.source for place in places})

    @property
    def _forgetting(self) -> Forgetting:
        from thresher.forgetting import Forgetting

        return Forgetting(self.home, self._existing(), self.files, self.traces, self.labels, self._replies)

    def holding(self, text: str) -> list[str]:
        """The tables and files of the collection and of its home that hold a text; none after a purge of it."""
        check_type("text", text, str, "words that were in a document, or its source")
        return list(self._forgetting.holding(text))

    def documents(self, *, where: str | None = None) -> list[DocumentRecord]:
        """All documents in the order they were added, or those that a filter on their fields holds for."""
        records = self._named(self._existing().records())
        if where is None:
            return records
        columns = ("source", "title", "kind", "added", "date")
        rows = {
            one.id: {**one.metadata, **{name: getattr(one, name) for name in columns}, "document_id": one.id}
            for one in records
        }
        restricted = resolve(parse(where), lambda: rows)
        return [record for record in records if holds(restricted, rows[record.id])]

    def document(self, document_id: str) -> Document:
        """A document with its text."""
        check_type("document_id", document_id, str, "the id of a document, see `documents()`")
        return self._named(self._existing().document(document_id))

    def also(self, document_id: str) -> tuple[str, ...]:
        """All sources of a document, the first one first."""
        return self._named({"also": self._existing().also([document_id])[document_id]})["also"]

    def tables(self) -> list[dict[str, Any]]:
        """The chunk tables: fingerprint, level, encoder, number of chunks.

        `estimated` is what ECRAG's formulas expect (X3 in docs/methods.md) of tables that are cut as it does.
        """
        from thresher.chunking.hierarchical import HierarchicalChunker

        tables = self._existing().tables()
        characters = [record.characters for record in self._existing().records()]
        expected: dict[str, int] = {}
        for config in self._index_configs(recipes.names(), None, self._parts()):
            if isinstance(config.chunker, HierarchicalChunker):
                each = [config.chunker.estimate(number) for number in characters]
                expected |= {name: sum(one[level] for one in each) for level, name in config.tables.items()}
        return [{**row, "estimated": expected.get(row["name"])} for row in tables]

    def extractions(self) -> dict[str, int]:
        """Documents by the extraction that read them: `current`, `older`, `unknown`; `add` with `reread` renews."""
        from thresher.documents import registry

        counted = self._existing().extractions()
        current, unknown = counted.pop(registry.EXTRACTION, 0), counted.pop(None, 0)
        return {"current": current, "older": counted.total(), "unknown": unknown}

    def storage(self) -> dict[str, int]:
        """What it takes on disk: `files`, `bytes`, and `versions`, the most that one of its tables keeps."""
        store = self._existing()
        files, bytes_ = store.size()
        return {"files": files, "bytes": bytes_, "versions": max(store.versions().values())}

    def doctor(self, *, repair: bool = True, settings: Mapping[str, Any] | None = None) -> list[Finding]:
        """Check the collection on disk and mend what can be mended."""
        from thresher.indexing.doctor import Finding, examine

        store, forgetting = self._existing(), self._forgetting
        cut_short = [Finding("purge", f"of {place.source} was cut short", repair) for place in forgetting.unfinished()]
        if cut_short and repair:
            forgetting.finish()
        configs = self._index_configs(recipes.names(), settings, self._parts())
        return [*cut_short, *examine(store, configs, repair=repair)]

    # --- questions

    def search(
        self,
        question: str,
        *,
        recipe: str | recipes.Recipe = recipes.DEFAULT,
        limit: int = DEFAULT_LIMIT,
        where: str | None = None,
        settings: Mapping[str, Any] | None = None,
        strict: bool = False,
        max_tokens: int | None = None,
        **unknown: Never,
    ) -> SearchResult:
        """Ranked hits, after judging where the recipe judges; never goes outside. UsageError for another option.

        With `max_tokens` instead of hits the best verbatim spans that fit, and the verdict: cut from what the recipe
        would hand a generator, with heading and with the sentence that a span leans on. Tokens are the bundled
        encoder's; those of a chat model differ by some 10 to 20 % (`thresher.models.encoders`).
        """
        for name in unknown:
            raise UsageError("unknown option of `search`", subject=name, next_step=search_option(name))
        configured, parts = self._configured(recipe, settings), self._parts()
        pipeline, query = self._pipeline(recipe, configured, parts), self._query(question, limit, where)
        cut = None
        if max_tokens is not None:
            from thresher.recipes.evidence import spending

            check_number("max_tokens", max_tokens, least=1)
            cut = spending(parts).cut(max_tokens)
        return self._named(self._links(settings).search(pipeline.search(query, strict=strict, cut=cut)))

    def rarity(
        self,
        text: str,
        *,
        recipe: str | recipes.Recipe = recipes.DEFAULT,
        settings: Mapping[str, Any] | None = None,
    ) -> Mapping[str, float]:
        """BM25's idf of each term of a text among the chunks that a recipe reads. UsageError where it reads none."""
        configured, parts = self._configured(recipe, settings), self._parts()
        config = recipes.get(recipe).index_config(configured, parts)
        if config is None:
            raise UsageError("reads no documents", subject=f"recipe {recipes.get(recipe).name}")
        self._existing()
        return parts.rarity(parts.table(config))(text)

    def resting_on(self, source: str) -> list[dict[str, Any]]:
        """The stored answers that cite a document of this source, here or deleted before, the newest first."""
        check_type("source", source, str, "a file, an address, or the end of a path")

        def cites(answer: Mapping[str, Any]) -> bool:
            cited = (one["source"] for one in answer["citations"])
            return any(one == source or one.endswith(f"/{source}") for one in cited)

        self._existing()
        return [one for one in self._named(list(self.traces.all())) if cites(one)]

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
        from thresher.recipes.evidence import gathered

        if refined:
            settings = {"refine.of": "all", **dict(dotted(settings or {}))}
        configured = self._configured(recipe, settings)
        place = self._place(outside or configured.outside)
        parts, linked = self._parts(outside=place), self._links(settings, place).hit
        pipeline, query = self._pipeline(recipe, configured, parts), self._query(question, limit, where)
        return self._named(gathered(pipeline, query, parts, linked, refined=refined, strict=strict))

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
        from thresher.recipes.build import checker, quotes
        from thresher.recipes.check import checked, passages, unplaced
        from thresher.verification.check import EVEN

        check_type("text", text, str, "a text")
        if not text.strip():
            raise UsageError("the text is empty", next_step="give an answer, a draft or a report to check")
        configured, parts = self._without_model(recipe, settings), self._parts()
        holds = checker(configured, parts, EVEN)
        if evidence is not None:
            given = passages(evidence)
            return checked(text, replace(holds, documents=lambda ids: {}), lambda claim: given, unplaced)
        pipeline = self._pipeline(recipe, configured, parts)

        def found(claim: str) -> Sequence[Evidence]:
            query = self._query(claim, CHECKED_PASSAGES, where)
            return whole(query, pipeline.retrieve(query).kept[:CHECKED_PASSAGES]).evidence

        return self._named(self._links(settings).check(checked(text, holds, found, quotes(parts).placed)))

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
        return self._steps(question, meter, options)

    def _steps(self, question: str, meter: Meter | None, options: AskOptions) -> Generator[Step | Answer, None, None]:
        recipe, where = recipes.get(options.get("recipe", recipes.DEFAULT)), options.get("where")
        configured = self._configured(recipe, options.get("settings"))
        outside = options.get("outside") or configured.outside
        meter = meter or Meter.of(options)
        tell, has_sentences = options.get("on_sentence", in_silence), False
        if line := courtesy(question):
            tell(line)
            yield polite(question, recipe.name, line)
            return
        history = tuple(one for one in map(turn, options.get("history", ())) if not courtesy(one[0]))
        if (outline := self._as_whole(question, history, recipe.name, where)) is not None:
            outline = self._links(options.get("settings")).answer(outline)
            tell(outline.text)
            yield self._named(outline)
            return

        def on_sentence(sentence: str) -> None:
            nonlocal has_sentences
            has_sentences = True
            tell(sentence)

        listening = in_silence if tell is in_silence else on_sentence
        place = self._place(outside)
        links = self._links(options.get("settings"), place)
        parts = self._parts(meter, outside=place, on_sentence=listening)
        certified = self._certificate(configured, parts, options)
        asserted_from = certified[0].threshold if certified and not certified[1] else None
        parts = replace(parts, asserted_from=asserted_from)
        try:
            with within(meter.allow_time):
                pipeline = self._pipeline(recipe, configured, parts)
        except BudgetSpent as spent:
            lack = f"retrieve: {spent.what} before the index of this recipe was made; `thresher index` makes it"
            pipeline = parts.unanswering(recipe.name, lack)
        max_tokens = options.get("max_tokens")
        pipeline = self._budgeted(pipeline, max_tokens, parts)
        if not recipe.corrects and options.get("outside") not in (None, "none"):
            there = place.given if place else outside
            stays = f"correct: {recipe.name} never goes outside; {there} was not looked in"
            pipeline = replace(pipeline, degraded=(*pipeline.degraded, stays))
        query = understood(self._query(question, DEFAULT_LIMIT, where), history, pipeline, configured, parts)
        for step in pipeline.run(query, strict=options.get("strict", False)):
            if isinstance(step, Answer):
                exchanges = parts.exchanges.stored()
                request = Request(
                    recipe.name,
                    flat_public(configured),
                    place.given if place else None,
                    where,
                    query.today,
                    exchanges,
                    history,
                    links.public_url,
                    max_tokens,
                    asserted_from,
                )
                answer = links.answer(step if certified is None else self._certified(step, *certified))
                if not has_sentences:
                    tell(step.text)
                yield self._named(self.traces.stored(answer, request))
            else:
                yield step

    def _as_whole(
        self, question: str, history: Sequence[tuple[str, str]], recipe: str, where: str | None
    ) -> Answer | None:
        """The outline of the document that a question asks about as a whole; None for any other question.

        One that it does not name is the only one, or that which the question before is about.
        """
        if (named := asks_about_whole(question)) is None:
            return None
        from thresher.answering.outline import meant, outline, refused_whole

        records = self.documents(where=where)
        found = meant(named, records)
        if found is None and not named and history:
            before = history[-1][0]
            if asks_about_whole(before):
                again = self._as_whole(before, history[:-1], recipe, where)
                return None if again is None else replace(again, question=question)
            hits = self.search(before, limit=1, where=where).hits
            found = next((one for one in records if hits and one.id == hits[0].chunk.document_id), None)
        if found is None:
            return None if named else refused_whole(question, recipe)
        return outline(question, recipe, self._existing().document(found.id))

    def stream(
        self, question: str, *, meter: Meter | None = None, **options: Unpack[AskOptions]
    ) -> Generator[str | Answer, None, None]:
        """The sentences of the answer, each as soon as it is written and checked, and the whole answer last.

        Nothing is taken back: the sentences are the answer's text, put together. What cannot be asked is refused by the
        call. A reader that leaves before the end ends the question.
        """
        self.check_asked(question, options)
        return self._sentences(question, meter or Meter.of(options), options)

    def _sentences(self, question: str, meter: Meter, options: AskOptions) -> Generator[str | Answer, None, None]:
        events: SimpleQueue[str | Answer | BaseException] = SimpleQueue()
        left = Event()
        meter.on_cancel(left.set)

        def ask() -> None:
            try:
                options["on_sentence"] = events.put
                for step in self.run(question, meter=meter, **options):
                    if left.is_set():
                        raise Cancelled("the question was cancelled")  # before the answer is stored
                    if isinstance(step, Answer):
                        events.put(step)
            except BaseException as error:  # raised below, in the thread that waits
                events.put(error)

        asking = Thread(target=ask, name="stream", daemon=True)
        asking.start()
        try:
            while not isinstance(event := events.get(), Answer):
                if isinstance(event, BaseException):
                    raise event
                yield event
        except (GeneratorExit, KeyboardInterrupt):
            meter.cancel()
            raise
        finally:
            asking.join()  # whoever left may close the collection next
        yield event

    def check_asked(self, question: str, options: AskOptions) -> None:
        """Raise UsageError for a closed collection, a question without words, and options that `ask` does not have."""
        self._check_open()
        check_question(question)
        check_options(options)

    def stored(self, trace: str = "last") -> dict[str, Any]:
        """A stored answer with the fate of every chunk, as JSON. Raises UsageError when there is none."""
        check_type("trace", trace, str, "the id of an answer, or last")
        return self._named(self.traces.load(trace))

    def replay(self, trace: str = "last") -> tuple[Answer, list[str]]:
        """Ask the question of a stored answer again, with the replies and pages that were stored with it.

        Nothing is sent anywhere. Returns the answer and how it differs from the stored one (nothing, unless the
        documents or Thresher changed). Raises NotRecorded when something is needed that was not stored.
        """
        check_type("trace", trace, str, "the id of an answer, or last")
        return self._named(replay(self.traces, trace, self._ask_again))

    def _ask_again(self, question: str, request: Request) -> Answer:
        place = self._stored_place(request.outside)
        parts = self._parts(outside=place, exchanges=Exchanges(request.exchanges))
        parts = replace(parts, asserted_from=request.asserted_from)
        recipe = recipes.get(request.recipe)
        given = own(recipe.settings, request.settings)
        pipeline_settings = recipe.configured(given)
        pipeline = self._pipeline(recipe, pipeline_settings, parts)
        pipeline = self._budgeted(pipeline, request.max_tokens, parts)
        query = replace(self._query(question, DEFAULT_LIMIT, request.where), today=request.today)
        if gone := sorted(request.settings.keys() - given.keys()):
            lack = f"replay: settings of then that there are no more were left out: {', '.join(gone)}"
            pipeline = replace(pipeline, degraded=(*pipeline.degraded, lack))
        answer = pipeline.answer(understood(query, request.history, pipeline, pipeline_settings, parts))
        return self._links({"public_url": request.public_url}, place).answer(answer)

    def feedback(self, trace: str | Answer, right: bool, answer: str | None = None, *, by: str = "") -> Label:
        """Keep what a person says of an answer, given itself or by its trace (or `last`), with the right one if known.

        `calibrate` and `train_judge` read it; of several labels `by` one person for one answer the last counts.
        Raises UsageError for a trace that there is not.
        """
        from thresher.tracing.feedback import label_of

        check_type("trace", trace, (str, Answer), "an answer, the id of its trace, or last")
        check_type("right", right, bool, "True or False")
        check_type("answer", answer or "", str, "a text")
        self._existing()
        answered = trace.to_dict(chunks=True) if isinstance(trace, Answer) else self.traces.load(trace)
        label = label_of(answered, right=right, answer=answer, by=by)
        self.labels.add(label)
        return label

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
        from thresher.recipes.calibrate import answerable, calibrated

        if questions is not None:
            for asked in questions:
                if not (isinstance(asked, tuple | list) and list(map(type, asked)) == [str, bool]):
                    raise WrongType("questions", asked, "pairs of a question and whether the documents answer it")
        check_type("number", number, int, "a whole number")
        self._existing()
        made = calibrated(
            recipes.get(recipe),
            self._configured(recipe, settings),
            self._parts(),
            questions,
            number=number,
            seed=seed,
            limit=DEFAULT_LIMIT,
            feedback=answerable(self.labels.labels()),
            progress=progress,
        )
        self.calibrations.put(made)
        return made

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
        from thresher.judging.certificate import Certificate
        from thresher.recipes.certify import Wanted, asked_again, read_labels, terms

        wanted = Wanted.of(at_most_wrong, risk, confidence)
        check_type("recipe", recipe, str, "the name of a recipe")
        given = [] if labels is None else read_labels(labels)
        if not len(self._existing().catalog()):
            raise UsageError("has no documents to ask", subject=f"collection {self.name}", next_step="call `add(PATH)`")
        configured = self._configured(recipe, settings)
        place = self._place(configured.outside)
        of = terms(configured, self._parts())  # what changes while the questions are asked makes it void

        def ask(question: str) -> Answer:
            pipeline = self._pipeline(recipe, configured, self._parts(outside=place))
            return pipeline.answer(self._query(question, DEFAULT_LIMIT, None))

        spoken, gone = self._labelled_answers()
        found, outdated = asked_again([*given, *spoken], ask, progress)
        made = wanted.certified(
            found,
            least=configured.answer.min_confidence,
            collection=self.name,
            recipe=recipe,
            of=of,
            outdated=outdated + gone,
        )
        if isinstance(made, Certificate):
            self.certificates.put(made)
            return made
        return replace(made, withdrawn=self.certificates.withdraw(recipe, made))

    def _labelled_answers(self) -> tuple[list[AnswerLabel], int]:
        """Feedback with the answer that it is of, and how much of it is of answers that are stored no longer."""
        from thresher.recipes.certify import AnswerLabel

        found, labels = list[AnswerLabel](), self.labels.labels()
        for label in labels:
            with suppress(UsageError, StoreError):
                found.append(AnswerLabel(label.question, self.traces.load(label.trace)["text"], label.right))
        return found, len(labels) - len(found)

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
        self._existing()
        for most in budgets:
            check_number("max_tokens", most, least=1)
        for question, _ in questions or ():
            check_question(question)
        curve: Public = required("thresher.measures", "budget")(
            recipes.get(recipe),
            self._without_model(recipe, settings),
            self._parts(),
            questions,
            number=number,
            seed=seed,
            limit=DEFAULT_LIMIT,
            budgets=budgets,
            progress=progress,
        )
        return curve

    def bounds(
        self, recipe: str | recipes.Recipe, *, settings: Mapping[str, Any] | None = None
    ) -> tuple[float, ...] | None:
        """The lower and upper bound of a published recipe here, or the floor learned for it, on its scale; or None."""
        from thresher.recipes.judges import bounds_here

        return bounds_here(self._pipeline(recipe, self._configured(recipe, settings), self._parts()))

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
        self._existing()
        train = required("thresher.training", "judge")
        configured, parts = self._configured("corrective", settings), self._parts()
        given = (labels, self.labels.labels(), configured, parts, self.home)
        trained: Public = train(*given, epochs=epochs, seed=seed, counting=counting)
        return trained

    def settings(self, recipe: str | recipes.Recipe, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Every setting a recipe would run with here, by dotted key; secrets as stars."""
        return flat(self._configured(recipe, settings))

    def check_outside(self, given: str | WebSearch | None) -> None:
        """Raise UsageError for an `outside` of `ask` that is no place, or not there, whatever recipe would look."""
        self._place(given)


Item = TypeVar("Item", bound=str | recipes.Recipe)


def _listed(name: str, given: Item | Sequence[Item]) -> Sequence[Item]:
    """One or several, as several. Raises WrongType for what is neither."""
    if isinstance(given, str | recipes.Recipe):
        return [given]
    check_type(name, given, Sequence, "one, or a list of them")
    return given
