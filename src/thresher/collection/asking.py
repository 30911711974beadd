"""Questions of an open collection: asked, streamed, replayed, searched, and claims checked."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from thresher import recipes
from thresher.answer import Answer
from thresher.collection.opened import CERTIFICATES, Opened, without_model
from thresher.collection.options import DEFAULT_LIMIT, AskOptions, SearchOptions, check_number, check_question
from thresher.deadline import within
from thresher.errors import (
    BudgetSpent,
    StoreError,
    UsageError,
    WrongType,
    check_type,
)
from thresher.filters import COLUMNS, parse, resolve
from thresher.indexing.on_disk import stale
from thresher.links import Links
from thresher.models.usage import Exchanges, Meter
from thresher.pipeline import Pipeline
from thresher.pipeline import as_is as whole
from thresher.protocols import in_silence
from thresher.recipes.components import Components, Outside, nothing
from thresher.recipes.settings import RecipeSettings
from thresher.settings import flat_public, known_to
from thresher.tracing.traces import Request, replay
from thresher.types import (
    Check,
    Evidence,
    Filter,
    Generation,
    Notes,
    Origin,
    Query,
    SearchResult,
    Stale,
    Step,
    Value,
)

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.judging.certificate import Certificate
    from thresher.recipes.check import GivenPassage
    from thresher.recipes.evidence import EvidenceResult

CHECKED_PASSAGES = 8
"""Passages that a claim is checked against, as many as an answer is written from."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What `Collection` does with questions."""

    opened: Opened

    def query(self, question: str, limit: int = DEFAULT_LIMIT, where: str | None = None, today: str = "") -> Query:
        """A question as the slots get it. Raises UsageError for one without words, and for a filter that is none."""
        check_question(question)
        check_number("limit", limit, least=1)
        check_type("where", where or "", str, "a filter as text, e.g. `kind = 'pdf'`")
        question = question.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair, from a broken argument
        if not question.isascii():
            from thresher.documents.cleaning import normalise

            question = normalise(question) or question  # as texts are read: letters of full width are plain
        restricted = None if where is None else self._restricted(where)
        return Query(question, question, limit, restricted, today=today or date.today().isoformat())

    def _restricted(self, where: str) -> Filter:
        """The filter that a caller wrote in columns of chunks; sources are compared by their shown names."""
        name, opened = self.opened.source_name, self.opened
        if name is None:
            return resolve(parse(where), opened.existing().metadata)

        def fields() -> dict[str, Mapping[str, Value]]:
            return {one.id: {**one.metadata, "source": name(one.source)} for one in opened.existing().records()}

        return resolve(parse(where), fields, columns=[column for column in COLUMNS if column != "source"])

    def _links(self, public_url: str, outside: Outside | None = None) -> Links:
        """What gives hits and citations their addresses; `outside` is where text from outside comes from."""
        kind, _, other = ("" if outside is None else outside.given).partition(":")

        def looked_at(origin: Origin, document_ids: Sequence[str]) -> Mapping[str, Stale]:
            store = self.opened.store if origin is Origin.INSIDE else outside and outside.store
            return stale(store, document_ids) if store else {}

        return Links(public_url, self.opened.name, other if kind == "collection" else "", looked_at)

    # --- asked

    def run(self, question: str, meter: Meter | None, options: AskOptions) -> Generator[Step | Answer, None, None]:
        """The steps of a question, the answer last, stored."""
        from thresher.question.intent import intent_of

        opened, recipe = self.opened, recipes.get(options.get("recipe", recipes.DEFAULT))
        settings, front = opened.resolved(recipe, options.get("settings"))
        tell, has_sentences = options.get("on_sentence", in_silence), False
        history = tuple(one for one in map(turn, options.get("history", ())) if not intent_of(one[0]).courtesy)

        def on_sentence(sentence: str) -> None:
            nonlocal has_sentences
            has_sentences = True
            tell(sentence)

        wanted = options.get("outside") or settings.outside
        outside = opened.outside(wanted)
        links = self._links(front.public_url, outside)
        listening = in_silence if tell is in_silence else on_sentence
        parts = opened.parts(meter or Meter.of(options), outside=outside, on_sentence=listening)
        certified = self._certificate(settings, parts, options)
        request = Request(
            recipe.name,
            flat_public(settings),
            outside.given if outside else None,
            options.get("where"),
            date.today().isoformat(),
            exchanges={},  # as far as they are known before the question is asked
            history=history,
            public_url=links.public_url,
            max_tokens=options.get("max_tokens"),
            asserted_from=certified[0].threshold if certified and not certified[1] else None,
            within=opened.within,
        )
        lacks = []
        if not recipe.corrects and options.get("outside") not in (None, "none"):
            lacks.append(stays_inside(recipe, outside.given if outside else str(wanted)))
        pipeline, query = self._prepared(question, request, recipe, settings, parts, lacks)
        if pipeline.retrieve is nothing:
            certified = None  # a certificate is of what was searched for
        for step in pipeline.run(query, strict=options.get("strict", False)):
            if not isinstance(step, Answer):
                yield step
                continue
            answer = links.answer(step if certified is None else self._certified(step, *certified))
            if not has_sentences:
                tell(step.text)
            request = replace(request, exchanges=parts.exchanges.stored())
            yield opened.named(opened.traces.stored(answer, request))

    def _prepared(
        self,
        question: str,
        request: Request,
        recipe: recipes.Recipe,
        settings: RecipeSettings,
        parts: Components,
        lacks: Sequence[str],
    ) -> tuple[Pipeline, Query]:
        """What a question runs through, and the query that it begins with: for an answer and for its replay."""
        from thresher.question.intent import intent_of

        query = self.query(question, where=request.where, today=request.today)
        question = query.question
        if line := intent_of(question).courtesy:
            return Pipeline(recipe.name, nothing, lambda query, evidence: Generation(line), parts.meter), query
        if settings.outlines and (telling := self._as_whole(question, request, recipe, settings, parts)) is not None:
            return telling, query
        parts = replace(parts, asserted_from=request.asserted_from)
        try:
            with within(parts.meter.allow_time):
                pipeline = self.opened.pipeline(recipe, settings, parts)
        except BudgetSpent as spent:
            lack = f"retrieve: {spent.what} before the index of this recipe was made; `thresher index` makes it"
            pipeline = parts.unanswering(recipe.name, lack)
        if request.max_tokens is not None:
            from thresher.recipes.evidence import spending

            pipeline = spending(parts).budgeted(pipeline, request.max_tokens)
        pipeline = replace(pipeline, degraded=(*pipeline.degraded, *lacks))
        if (config := recipe.index_config(settings, parts)) is not None:
            from thresher.models.encoders import is_word
            from thresher.question.wording import has_mistyped

            if has_mistyped(query.question, is_word):
                from thresher.question.spelling import Spelling

                query = Spelling(parts.table(config), is_word)(query)
        if request.history:
            from thresher.question.conversation import FollowUp, PassageFinder

            passages = PassageFinder(pipeline.retrieve, parts.models.judge())
            query = FollowUp(passages, parts.language_model(settings.llm))(query, request.history)
        if read := intent_of(query.question).to_dict():
            query = replace(query, notes=query.notes + Notes(facts={"intent": read}))
        return pipeline, query

    def _as_whole(
        self, question: str, request: Request, recipe: recipes.Recipe, settings: RecipeSettings, parts: Components
    ) -> Pipeline | None:
        """What tells of the document that a question asks about as a whole, or asks which; None for any other question.

        One that it does not name is the only one, or that which the question before is about.
        """
        from thresher.question.intent import intent_of

        asked = intent_of(question)
        named, fact = asked.file or (asked.document, None)
        if named is None:
            return None
        from thresher.answering.citations import abstention
        from thresher.answering.proposers.outline import WHICH, document_called, outline, properties
        from thresher.answering.proposers.summary import summary
        from thresher.collection.documents import Documents
        from thresher.recipes.build import quotes, summariser

        records = Documents(self.opened).records(request.where)
        found = document_called(named, records)
        if found is None and not named and request.history:
            before, request = request.history[-1][0], replace(request, history=request.history[:-1])
            if intent_of(before).document:
                return self._as_whole(before, request, recipe, settings, parts)
            pipeline = self.opened.pipeline(recipe, without_model(settings), parts)
            hits = pipeline.search(self.query(before, 1, request.where, request.today)).hits
            found = next((one for one in records if hits and one.id == hits[0].chunk.document_id), None)
        if found is None and named:
            return None
        write = summariser(settings, parts)
        if found is None:
            told = partial(abstention, WHICH)
        elif fact is not None:
            if (stated := properties(self.opened.existing().document(found.id), fact)) is None:
                return None
            told = partial(Generation, stated)
        elif write is None:
            told = partial(outline, self.opened.existing().document(found.id))
        else:
            told = partial(summary, self.opened.existing().document(found.id), write, parts.on_sentence)
        return Pipeline(recipe.name, nothing, lambda query, evidence: told(), parts.meter, verify=quotes(parts))

    def _certificate(
        self, settings: RecipeSettings, parts: Components, options: AskOptions
    ) -> tuple[Certificate, str] | None:
        """The certificate of a recipe, and what of this question it does not cover; None where there is none."""
        name = options.get("recipe", recipes.DEFAULT)
        if not isinstance(name, str) or self.opened.files.find(CERTIFICATES) is None:
            return None
        if (certificate := self.opened.certificates.get(name)) is None:
            return None
        from thresher.recipes.certify import terms, uncovered

        changes = certificate.terms.changes(terms(settings, parts))
        return certificate, changes or uncovered(options, settings.outside)

    def _certified(self, answer: Answer, certificate: Certificate, void: str) -> Answer:
        """The answer with what its certificate says of it; its certainty is kept for the next ones."""
        from thresher.recipes.certify import asserted, settled

        certificates = self.opened.certificates
        if not void:
            certainty, answer = asserted(answer), settled(answer, certificate)
            with suppress(StoreError):  # a home that cannot be written to
                certificates.note(certificate.recipe, answer.standalone or answer.question, certainty)
        recent = [] if void else list(certificates.recent(certificate.recipe).values())
        return replace(answer, certificate=certificate.stated(void, recent, covers=answer.state == "answered"))

    def replay(self, trace: str) -> tuple[Answer, list[str]]:
        """The answer to the question of a stored one, with the replies and pages of then, and how it differs."""
        return self.opened.named(replay(self.opened.traces, trace, self._again))

    def _again(self, question: str, request: Request) -> Answer:
        if (opened := self.opened.seen_within(request.within)) is not self.opened:
            return Asking(opened)._again(question, request)
        recipe = recipes.get(request.recipe)
        outside = opened.stored_outside(request.outside)
        parts = opened.parts(outside=outside, exchanges=Exchanges(request.exchanges))
        given = known_to(recipe.settings, request.settings)
        gone = ", ".join(sorted(request.settings.keys() - given.keys()))
        lacks = [f"replay: settings of then that there are no more were left out: {gone}"] if gone else []
        if not recipe.corrects and request.outside not in (None, request.settings.get("outside")):
            lacks.insert(0, stays_inside(recipe, str(request.outside)))
        pipeline, query = self._prepared(question, request, recipe, recipe.configured(given), parts, lacks)
        return self._links(request.public_url, outside).answer(pipeline.answer(query))

    # --- searched

    def search(self, question: str, options: SearchOptions) -> SearchResult:
        """The hits that a recipe keeps, or with `max_tokens` the excerpts of its evidence."""
        recipe, max_tokens = options.get("recipe", recipes.DEFAULT), options.get("max_tokens")
        limit, where = options.get("limit", DEFAULT_LIMIT), options.get("where")
        (configured, front), parts = self.opened.resolved(recipe, options.get("settings")), self.opened.parts()
        pipeline, query = self.opened.pipeline(recipe, configured, parts), self.query(question, limit, where)
        cut = None
        if max_tokens is not None:
            from thresher.recipes.evidence import spending

            check_number("max_tokens", max_tokens, least=1)
            cut = spending(parts).cut(max_tokens)
        found = pipeline.search(query, strict=options.get("strict", False), cut=cut)
        return self.opened.named(self._links(front.public_url).search(found))

    def evidence(
        self,
        question: str,
        recipe: str | recipes.Recipe,
        limit: int,
        outside: str | WebSearch | None,
        where: str | None,
        settings: Mapping[str, Any] | None,
        *,
        refined: bool,
        strict: bool,
    ) -> EvidenceResult:
        """What a generator would be given, and the verdict."""
        from thresher.recipes.evidence import gathered

        configured, front = self.opened.resolved(recipe, settings)
        source = self.opened.outside(outside or configured.outside)
        parts, linked = self.opened.parts(outside=source), self._links(front.public_url, source).hit
        pipeline, query = self.opened.pipeline(recipe, configured, parts), self.query(question, limit, where)
        return self.opened.named(gathered(pipeline, query, parts, linked, refined=refined, strict=strict))

    def check(
        self,
        text: str,
        evidence: Sequence[GivenPassage] | None,
        recipe: str | recipes.Recipe,
        where: str | None,
        settings: Mapping[str, Any] | None,
    ) -> Check:
        """The claims of a text against given passages, or against what a recipe retrieves for each."""
        from thresher.recipes.build import checker, quotes
        from thresher.recipes.check import checked, passages, unplaced

        check_type("text", text, str, "a text")
        if not text.strip():
            raise UsageError("the text is empty", next_step="give an answer, a draft or a report to check")
        (configured, front), parts = self.opened.resolved(recipe, settings), self.opened.parts()
        configured = without_model(configured)
        holds = checker(parts)
        if evidence is not None:
            given = passages(evidence)
            return checked(text, replace(holds, documents=lambda ids: {}), lambda claim: given, unplaced)
        pipeline = self.opened.pipeline(recipe, configured, parts)

        def found(claim: str) -> Sequence[Evidence]:
            query = self.query(claim, CHECKED_PASSAGES, where)
            return whole(query, pipeline.retrieve(query).kept[:CHECKED_PASSAGES]).evidence

        links = self._links(front.public_url)
        return self.opened.named(links.check(checked(text, holds, found, quotes(parts).placed)))


def stays_inside(recipe: recipes.Recipe, outside: str) -> str:
    """What a question lacks that was to look outside by a recipe that never does."""
    return f"correct: {recipe.name} never goes outside; {outside} was not looked in"


def turn(turn: tuple[str, str] | Answer) -> tuple[str, str]:
    """A question as it stands alone, with its answer. Raises WrongType."""
    if isinstance(turn, Answer):
        return turn.standalone or turn.question, turn.text
    match turn:
        case (str() as question, str() as answer):
            return question, answer
    raise WrongType("history", turn, "pairs of a question and its answer, or answers")
