"""The engine on one screen: eight named slots, run in the order they are written.

    question -> rewrite -> retrieve -> judge -> decide -> correct -> refine -> generate -> verify -> Answer

A recipe is a value of `Pipeline`. The run is a generator of steps, with the answer last: the command line prints them,
a server streams them, the evals store them, `explain` shows them again.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol, TypeVar

from thresher.errors import Degraded
from thresher.protocols import (
    Corrector,
    Decider,
    Described,
    Generator,
    Judge,
    Refiner,
    Retriever,
    Rewriter,
    Verifier,
    about,
)
from thresher.types import (
    Answer,
    ChunkTrace,
    Citation,
    Correction,
    Decision,
    Evidence,
    Generation,
    Hit,
    Judged,
    Judgement,
    Query,
    Refined,
    Score,
    SearchResult,
    Step,
    Usage,
    Verdict,
    ranked,
)

Value = TypeVar("Value", Query, Judged, Decision, Correction, Refined, Generation)

SLOTS = ("rewrite", "retrieve", "judge", "decide", "correct", "refine", "generate", "verify")


class Meter(Protocol):
    """What a run has cost so far."""

    @property
    def usage(self) -> Usage:
        """Calls, tokens and hosts."""
        ...


# --- parts that do nothing, by name, so that what a recipe leaves out is visible --------------------------------------


def as_asked(query: Query) -> Query:
    """Search for the question as it was asked."""
    return query


def keep_all(query: Query, hits: Sequence[Hit]) -> Judged:
    """Trust everything that was retrieved."""
    return Judged(tuple(Judgement(hit, keep=True) for hit in hits))


def always_correct(judged: Sequence[Judgement]) -> Decision:
    """Do not decide: whatever was retrieved is taken to be enough."""
    return Decision(verdict=None, reason="this recipe does not decide")


def never(query: Query, decision: Decision) -> Correction:
    """Never go outside."""
    return Correction()


def as_is(query: Query, hits: Sequence[Hit]) -> Refined:
    """Hand over the chunks whole."""
    return Refined(tuple(Evidence(hit, hit.chunk.start, hit.chunk.end, hit.chunk.text, hit.chunk.page) for hit in hits))


def unverified(query: Query, draft: Generation, evidence: Sequence[Evidence]) -> Generation:
    """Take the generator's word for it."""
    return draft


# --- the path ---------------------------------------------------------------------------------------------------------


def select(decision: Decision, kept: Sequence[Hit], found: Sequence[Hit]) -> tuple[Hit, ...]:
    """Knowledge to answer from: ours, theirs, or both (CRAG, section 4.3; `unsure` acts as ambiguous).

    A corrector that looked outside though the verdict is correct did so for a second opinion, which then counts.
    """
    match decision.verdict:
        case None:
            return tuple(kept)
        case Verdict.CORRECT | Verdict.AMBIGUOUS | Verdict.UNSURE:
            ours = {hit.chunk.id for hit in kept}
            return (*kept, *(hit for hit in found if hit.chunk.id not in ours))
        case Verdict.INCORRECT:
            return tuple(found)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A recipe, ready to run: which part sits in which slot."""

    recipe: str
    retrieve: Retriever
    generate: Generator
    meter: Meter
    rewrite: Rewriter = as_asked
    judge: Judge = keep_all
    decide: Decider = always_correct
    correct: Corrector = never
    refine: Refiner = as_is
    verify: Verifier = unverified
    degraded: tuple[str, ...] = ()
    """What the recipe names but could not be given, known before the run."""

    def describe(self, index: Described | None = None) -> dict[str, str]:
        """What stands in each slot, in the words of the parts themselves; `index` is how the documents are cut."""
        slots = {slot: about(getattr(self, slot)) for slot in SLOTS}
        if index is not None:
            slots["retrieve"] += f" over {index.about}"
        return slots

    def run(self, query: Query, *, strict: bool = False) -> Iterator[Step | Answer]:
        """The steps of a question as they finish, the answer last. With `strict`, Degraded instead of doing without."""
        record = _Record(self.degraded, strict)
        query = yield from record.step("rewrite", 1, lambda: self.rewrite(query))
        found = yield from record.step("retrieve", 1, lambda: self.retrieve(query))
        judged = yield from record.step("judge", len(found.kept), lambda: self.judge(query, found.kept))
        decision = yield from record.step("decide", len(judged.kept), lambda: self.decide(judged.judgements))
        correction = yield from record.step("correct", 1, lambda: self.correct(query, decision))
        chosen = select(decision, judged.kept, correction.hits)
        refined = yield from record.step("refine", len(chosen), lambda: self.refine(query, chosen))
        draft = yield from record.step(
            "generate", len(refined.evidence), lambda: self.generate(query, refined.evidence)
        )
        draft = _because(draft, refined, decision, correction)
        verified = yield from record.step("verify", 1, lambda: self.verify(query, draft, refined.evidence))
        citations, conflicts = _contradicted(verified.citations, refined)
        yield Answer(
            question=query.question,
            recipe=self.recipe,
            text=verified.text,
            abstained=verified.abstained,
            reason=verified.reason,
            verdict=decision.verdict,
            confidence=decision.confidence,
            citations=citations,
            conflicts=conflicts,
            steps=tuple(record.steps),
            usage=self.meter.usage,
            degraded=tuple(record.degraded),
            trace="",
            chunks=_fates(found, judged, correction, refined, decision, chosen),
        )

    def answer(self, query: Query, *, strict: bool = False) -> Answer:
        """The answer alone."""
        *_, last = self.run(query, strict=strict)
        assert isinstance(last, Answer)
        return last

    def search(self, query: Query, *, strict: bool = False) -> SearchResult:
        """The hits a recipe keeps, after judging and ordering; never goes outside.

        What a later slot lacks (a chat model to answer with) degrades no search.
        """
        later = tuple(f"{slot}:" for slot in SLOTS[SLOTS.index("judge") + 1 :])
        record = _Record([lack for lack in self.degraded if not lack.startswith(later)], strict)
        query = record.run("rewrite", 1, lambda: self.rewrite(query))
        found = record.run("retrieve", 1, lambda: self.retrieve(query))
        judged = record.run("judge", len(found.kept), lambda: self.judge(query, found.kept))
        hits = ranked(judged.kept[: query.limit])
        return SearchResult(query.question, self.recipe, hits, tuple(record.degraded))


class _Record:
    """Times the slots and gathers what they could not do."""

    def __init__(self, degraded: Sequence[str], strict: bool) -> None:
        self.steps: list[Step] = []
        self.degraded = list(degraded)
        self._strict = strict
        self._told: Mapping[str, Any] = {}
        self._refuse()

    def run(self, name: str, considered: int, part: Callable[[], Value]) -> Value:
        """What the part returns; the step is kept in `steps`."""
        started = perf_counter()
        value = part()
        seconds = perf_counter() - started
        detail = _detail(value)
        if isinstance(value, Generation):  # a verifier hands the generator's notes on: the trace tells each once
            told, self._told = self._told, detail
            detail = {key: fact for key, fact in detail.items() if key not in told or told[key] != fact}
        self.degraded += [lack for lack in value.notes.degraded if lack not in self.degraded]
        self._refuse()
        self.steps.append(Step(name, seconds, considered, _kept(value), detail, value))
        return value

    def step(self, name: str, considered: int, part: Callable[[], Value]) -> abc.Generator[Step, None, Value]:
        """Yield the step, return the value (for `yield from`)."""
        value = self.run(name, considered, part)
        yield self.steps[-1]
        return value

    def _refuse(self) -> None:
        if self._strict and self.degraded:
            raise Degraded(
                f"the recipe cannot be run as it is written ({'; '.join(self.degraded)})",
                next_step="configure what is missing, or ask without `strict`",
            )


def _because(draft: Generation, refined: Refined, decision: Decision, correction: Correction) -> Generation:
    """An abstention for want of evidence says why there is none, and what came of looking outside."""
    if not draft.abstained or refined.evidence or decision.verdict is None:
        return draft
    besides = f"; outside: {correction.outcome}" if correction.outcome else ""
    return replace(draft, reason=f"What was retrieved does not suffice: {decision.reason}{besides}.")


def _contradicted(
    cited: tuple[Citation, ...], refined: Refined
) -> tuple[tuple[Citation, ...], tuple[tuple[int, int], ...]]:
    """The citations, with evidence that contradicts a cited piece behind them, and the pairs of their markers.

    What contradicts an answer is shown beside it: a reader who sees one side only is misled.
    """
    citations = list(cited)
    pairs = []
    for one, other in refined.conflicts:
        sides = [refined.evidence[at - 1] for at in (one, other)]
        markers = [_marker(side, citations) for side in sides]
        if markers == [None, None]:
            continue
        for at, marker in enumerate(markers):
            if marker is None:
                citations.append(_whole(sides[at], len(citations) + 1))
                markers[at] = len(citations)
        pairs.append((min(filter(None, markers)), max(filter(None, markers))))
    return tuple(citations), tuple(dict.fromkeys(pairs))


def _marker(piece: Evidence, citations: Sequence[Citation]) -> int | None:
    """The marker of a citation within a piece of evidence."""
    for citation in citations:
        same = citation.document_id == piece.hit.chunk.document_id
        if same and citation.start < piece.end and piece.start < citation.end:
            return citation.marker
    return None


def _whole(piece: Evidence, marker: int) -> Citation:
    chunk = piece.hit.chunk
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        page=piece.page,
        start=piece.start,
        end=piece.end,
        quote=piece.text,
        score=piece.hit.score,
        origin=piece.hit.origin,
        fetched=piece.hit.fetched,
    )


def _kept(value: Any) -> int:
    """How many things came out of a slot."""
    match value:
        case Judged():
            return len(value.kept)
        case Refined():
            return len(value.evidence)
        case Correction():
            return len(value.hits)
        case Generation():
            return len(value.citations)
        case _:
            return 1


def _detail(value: Any) -> dict[str, Any]:
    """What a step says about itself in the trace."""
    match value:
        case Query():
            return {"question": value.question, "search": value.search, **value.notes.to_dict()}
        case Decision():
            verdict = None if value.verdict is None else str(value.verdict)
            return {"verdict": verdict, "confidence": value.confidence, "reason": value.reason, **value.notes.to_dict()}
        case Correction():
            return {**value.notes.to_dict(), **({"outcome": value.outcome} if value.outcome else {})}
        case Generation():
            return {**value.notes.to_dict(), "abstained": value.abstained, "reason": value.reason}
        case Judged() | Refined():
            return value.notes.to_dict()
        case _:
            return {}


def _fates(
    found: Judged,
    judged: Judged,
    correction: Correction,
    refined: Refined,
    decision: Decision,
    chosen: Sequence[Hit],
) -> tuple[ChunkTrace, ...]:
    """Every chunk that was touched, once, with all its scores and where it was dropped (first come, first listed)."""
    fates: dict[str, ChunkTrace] = {}
    stages = (
        ("retrieve", found.judgements),
        ("judge", judged.judgements),
        ("correct", correction.judgements),
        ("refine", refined.judgements),
    )
    for slot, judgements in stages:
        for judgement in judgements:
            _add_fate(fates, slot, judgement)
    used = {hit.chunk.id for hit in chosen}
    for id_, fate in fates.items():
        if fate.kept and id_ not in used:
            fates[id_] = replace(fate, kept=False, dropped_by="decide", reason=f"the verdict is {decision.verdict}")
    return tuple(fates.values())


def _add_fate(fates: dict[str, ChunkTrace], slot: str, judgement: Judgement) -> None:
    before = fates.get(judgement.hit.chunk.id)
    scores: Mapping[str, Score] = {**(before.hit.scores if before else {}), **judgement.hit.scores}
    if judgement.score is not None:
        scores = {**scores, slot: judgement.score}
    stood_for = tuple(dict.fromkeys((*(before.stood_for if before else ()), *judgement.stood_for)))
    fates[judgement.hit.chunk.id] = ChunkTrace(
        hit=replace(judgement.hit, scores=scores),
        kept=judgement.keep,
        dropped_by=None if judgement.keep else slot,
        reason=judgement.reason or (before.reason if before else ""),
        stood_for=stood_for,
    )
