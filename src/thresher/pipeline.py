"""The engine on one screen: eight named slots, run in the order they are written.

    question -> rewrite -> retrieve -> judge -> decide -> correct -> refine -> generate -> verify -> Answer

A recipe is a value of `Pipeline`. The run is a generator of steps, with the answer last: the command line prints them,
a server streams them, the evals store them, `explain` shows them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from thresher.answer import NOT_ANSWERED, UNCERTAIN, Answer, not_answered, not_certain
from thresher.protocols import Corrector, Decider, Generator, Judge, Refiner, Retriever, Rewriter, Verifier, about
from thresher.tracing.explain import EVIDENCE_IN_WORDS
from thresher.tracing.traces import Record
from thresher.types import (
    NO_NOTES,
    Correction,
    Decision,
    Evidence,
    Excerpt,
    Generation,
    Hit,
    Judged,
    Judgement,
    Query,
    Refined,
    SearchResult,
    Step,
    Usage,
    Verdict,
    ranked,
)

NO_TIME = "the budget was spent before it was looked at"

SLOTS = ("rewrite", "retrieve", "judge", "decide", "correct", "refine", "generate", "verify")

REFUSED_WITH = 3
"""Passages of which a refusal shows the nearest sentences."""

Cut = Callable[[Query, Sequence[Evidence]], Sequence[Excerpt]]
"""Evidence to the excerpts that fit into a budget of tokens, best first."""


class Meter(Protocol):
    """What a run has cost so far, and whether it may go on."""

    @property
    def usage(self) -> Usage:
        """Calls, tokens and hosts."""
        ...

    def allow_time(self) -> None:
        """Raise BudgetSpent when the seconds of the run are used up."""
        ...


# --- parts that do nothing, by name, so that what a recipe leaves out is visible --------------------------------------


def as_asked(query: Query) -> Query:
    """Search for the question as it was asked."""
    return query


def keep_all(query: Query, hits: Sequence[Hit]) -> Judged:
    """Trust everything that was retrieved."""
    return Judged(tuple(Judgement(hit, keep=True) for hit in hits))


def always_correct(query: Query, judged: Sequence[Judgement]) -> Decision:
    """Do not decide: whatever was retrieved is taken to be enough."""
    return Decision(verdict=None, reason="this recipe does not decide")


def never(query: Query, decision: Decision) -> Correction:
    """Never go outside."""
    return Correction()


def as_is(query: Query, hits: Sequence[Hit]) -> Refined:
    """Hand over the chunks whole."""
    return Refined(tuple(Evidence(hit, hit.chunk.start, hit.chunk.end, hit.chunk.text, hit.chunk.page) for hit in hits))


def unverified(query: Query, draft: Generation, refined: Refined) -> Generation:
    """Take the generator's word for it."""
    return draft


def unjudged(found: Judged) -> Judged:
    """Nothing is kept of what there was no time to judge."""
    return Judged(tuple(Judgement(hit, keep=False, reason=NO_TIME) for hit in found.kept))


def unrefined(hits: Sequence[Hit]) -> Refined:
    """Nothing is evidence that there was no time to hand over."""
    return Refined((), tuple(Judgement(hit, keep=False, reason=NO_TIME) for hit in hits))


def unanswered(record: Record) -> Generation:
    """The refusal of a question whose budget is spent: what it was spent on, and how far it came."""
    reached = ", ".join(step.name for step in record.before_the_end)
    reason = f"There was no time left to answer; reached: {reached or 'nothing'}."
    return Generation("The question could not be answered within its budget.", abstained=True, reason=reason)


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
    nearest: Generator | None = None
    """Shows, in doubt, what is nearest of one's own documents where they are insufficient and nothing else is there."""
    refuse: Generator | None = None
    """Refuses with the nearest sentences of what was judged, where nothing of it was kept."""
    degraded: tuple[str, ...] = ()
    """What the recipe names but could not be given, known before the run."""
    only_correct: bool = False
    """Whether a question is refused unless its verdict is correct (`answer.mode=strict`)."""

    def describe(self, index: object | None = None) -> dict[str, str]:
        """What stands in each slot, in the words of the parts themselves; `index` is how the documents are cut."""
        slots = {slot: about(getattr(self, slot)) for slot in SLOTS}
        if index is not None:
            slots["retrieve"] += f" over {about(index)}"
        return slots

    def run(self, query: Query, *, strict: bool = False) -> Iterator[Step | Answer]:
        """The steps of a question as they finish, the answer last. With `strict`, Degraded instead of doing without.

        When the seconds of the budget are over, the slot that runs ends and no other up to `generate` begins: the
        answer is a refusal that says how far the question came. What was written is always verified.
        """
        record = Record(self.degraded, strict=strict, allow=self.meter.allow_time)
        asked, standalone = query.asked or query.question, query.standalone if query.asked else None
        query = yield from record.step("rewrite", 1, lambda: self.rewrite(query), query)
        found = yield from record.step("retrieve", 1, lambda: self.retrieve(query), Judged(()))
        judged = yield from record.step(
            "judge", len(found.kept), lambda: self.judge(query, found.kept), unjudged(found)
        )
        decision = yield from record.step(
            "decide",
            len(judged.kept),
            lambda: self.decide(query, judged.judgements),
            Decision(None, reason=NO_TIME),
        )
        correction = yield from record.step("correct", 1, lambda: self.correct(query, decision), Correction())
        nearest = self._nearest(decision, correction)
        chosen = judged.kept if nearest else select(decision, judged.kept, correction.hits)
        refined = yield from record.step("refine", len(chosen), lambda: self.refine(query, chosen), unrefined(chosen))
        draft = yield from record.step(
            "generate",
            len(refined.evidence),
            lambda: self._generated(query, judged, refined, decision, correction),
            unanswered(record),
        )
        draft = replace(draft, notes=NO_NOTES)  # already in the trace: the verifier returns only its own
        answer = yield from record.step("verify", 1, lambda: self.verify(query, draft, refined))
        yield Answer(
            question=asked,
            recipe=self.recipe,
            text=answer.text,
            abstained=answer.abstained,
            reason=answer.reason,
            verdict=decision.verdict,
            confidence=decision.confidence,
            citations=answer.citations,
            alternatives=answer.alternatives,
            conflicts=answer.conflicts,
            steps=tuple(record.steps),
            usage=self.meter.usage,
            degraded=record.degraded,
            chunks=record.fates(chosen),
            certainty=None if answer.abstained else answer.certainty,
            standalone=standalone,
            answered_by=answer.answered_by or draft.answered_by,
            sentences=answer.sentences,
            removed=answer.removed,
            state=answer.state,
        )

    def answer(self, query: Query, *, strict: bool = False) -> Answer:
        """The answer alone."""
        *_, last = self.run(query, strict=strict)
        assert isinstance(last, Answer)
        return last

    def _generated(
        self, query: Query, judged: Judged, refined: Refined, decision: Decision, correction: Correction
    ) -> Generation:
        """The draft, or a refusal where only a correct verdict is answered and this one is not."""
        if self.only_correct and decision.verdict not in (None, Verdict.CORRECT):
            reason = not_certain(EVIDENCE_IN_WORDS[decision.verdict])
            return Generation(UNCERTAIN, abstained=True, reason=reason)
        generate, evidence = self._nearest(decision, correction) or self.generate, refined.evidence
        if self.refuse is not None and not evidence:
            hits = [judgement.hit for judgement in judged.judgements[:REFUSED_WITH]]
            generate, evidence = self.refuse, as_is(query, hits).evidence
        draft = generate(query, evidence)
        return _explained(query, draft, refined, decision, correction)

    def _nearest(self, decision: Decision, correction: Correction) -> Generator | None:
        """What shows the nearest where the evidence is insufficient and nothing was found outside; else None."""
        insufficient = decision.verdict is Verdict.INCORRECT and not correction.hits
        return self.nearest if insufficient and not self.only_correct else None

    def search(self, query: Query, *, strict: bool = False, cut: Cut | None = None) -> SearchResult:
        """The hits a recipe keeps, after judging and ordering; with `cut` excerpts of its evidence, and the verdict.

        It never goes outside, and what a later slot lacks (a chat model to answer with) degrades no search.
        """
        later = tuple(f"{slot}:" for slot in SLOTS[SLOTS.index("judge") + 1 :])
        lacks = [lack for lack in self.degraded if not lack.startswith(later)]
        record = Record(lacks, strict=strict, allow=self.meter.allow_time)
        asked = query.question
        query = record.run("rewrite", 1, lambda: self.rewrite(query))
        found = record.run("retrieve", 1, lambda: self.retrieve(query))
        listed = replace(query, limit=max(query.limit, len(found.kept)))  # not the best alone, as for an answer
        judged = record.run("judge", len(found.kept), lambda: self.judge(listed, found.kept))
        if cut is not None:
            decision = self.decide(query, judged.judgements)
            refined = record.run("refine", len(judged.kept), lambda: self.refine(query, judged.kept))
            spans = tuple(cut(query, refined.evidence))
            if [span.text for span in spans] != [piece.text for piece in refined.evidence]:
                decision = self.decide(query, self.judge(query, _handed(spans)).judgements)
            worth = (decision.verdict, decision.confidence, sum(span.tokens for span in spans), decision.reason)
            dropped = tuple(judgement for judgement in judged.judgements if not judgement.keep)
            return SearchResult(asked, self.recipe, (), record.degraded, spans, *worth, dropped)
        return SearchResult(asked, self.recipe, ranked(judged.kept[: query.limit]), record.degraded)


def _handed(spans: Sequence[Excerpt]) -> list[Hit]:
    """What a budget left, as hits: the verdict is of what is handed over, not of what it was cut from."""
    return [
        replace(span.evidence.hit, chunk=replace(span.evidence.hit.chunk, text=f"{span.heading}\n{span.text}".strip()))
        for span in spans
        if span.evidence is not None
    ]


def _explained(
    query: Query, draft: Generation, refined: Refined, decision: Decision, correction: Correction
) -> Generation:
    """An abstention says whether it was looked for outside, and the language if not English."""
    if not draft.abstained:
        return draft
    text, reason = draft.text, draft.reason or ""
    if not refined.evidence and decision.verdict is not None:
        text, reason = NOT_ANSWERED, not_answered(outside=correction.outcome == "nothing")
    if language := query.notes.facts.get("language"):
        needed = "documents in another language are found only by an encoder that knows both (the setting `encoder`)"
        reason += f" The question seems to be in {language}: {needed}."
    return replace(draft, text=text, reason=reason)
