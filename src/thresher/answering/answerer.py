"""The answer without a chat model: the passage or cell that most probably answers, shown and not asserted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar

from thresher.answer import NOT_ANSWERED
from thresher.answering.choose import choose, own_first
from thresher.answering.citations import NO_EVIDENCE, LocalReading, abstention
from thresher.answering.passage import Proposal, in_order, stretches_of
from thresher.answering.proposers.cells import CellFinder
from thresher.answering.proposers.passages import Passages
from thresher.answering.sentences import Allowed, SentenceFinder
from thresher.answering.show import nearest, shown
from thresher.answering.spans import RANK, Confidence, SpanFinder
from thresher.protocols import Documents, PairReader
from thresher.question.intent import intent_of
from thresher.structure.versions import Timed, asked_time, timed
from thresher.text.marks import holds
from thresher.types import Citation, Document, Evidence, Generation, Notes, Query
from thresher.verification.contradiction import names_alike

REPORTED = 12
"""Proposals in the trace."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """Proposes passages and cells of the evidence and shows the most probable one, with up to two alternatives."""

    spans: SpanFinder
    sentences: SentenceFinder
    judge: PairReader
    documents: Documents
    confidence: Confidence
    min_confidence: float = 0.1
    """Probability that what would be shown holds the answer, below which the question is refused."""
    answered_from: float = 0.45
    """Probability below which passages are shown as the nearest, in doubt, and carry no sentence of a model."""
    rivals: bool = False
    """Whether a span elsewhere that contradicts the answer is shown beside it."""
    today: Callable[[], date] = date.today
    certified_from: float | None = None
    """The threshold of a certificate, which then decides in place of `answered_from` what is in doubt."""

    about: ClassVar[str] = "best passage or cell"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The most probable passage or cell, cited; of a question with two question words, one for each."""
        return self._read(query, evidence, self._documents_of(evidence))[0]

    def reading(self, query: Query, evidence: Sequence[Evidence]) -> LocalReading:
        """Which pieces of the evidence answer, so that a sentence of a chat model may rest on them; of a refusal none.

        Those that are shown without a model where an answer is, and those that answer alone.
        """
        documents = self._documents_of(evidence)
        local, proposals = self._read(query, evidence, documents)
        if local.abstained:
            return LocalReading((), local, nearest=local.alternatives)
        probable = (local.certainty or 0.0) >= self.answered_from
        cited = [*local.citations, *(one.citation for one in local.alternatives)] if probable else []
        cited += [mine for one in proposals if one.probability >= self.answered_from for mine in one.citations]
        answering = {at for at, piece in enumerate(evidence) if any(_is_of(piece, one) for one in cited)}
        read = self.spans(query.question, [evidence[at] for at in sorted(answering)], documents)  # remembered
        words, known = [place.words for place in read], {citation.marker: citation for citation in local.citations}
        conflicts = [(known[one], known[other]) for one, other in local.conflicts]
        answer = local if probable and not local.doubtful else None
        return LocalReading(answering, answer, words, conflicts, nearest(proposals))

    def _read(
        self, query: Query, evidence: Sequence[Evidence], documents: Mapping[str, Document]
    ) -> tuple[Generation, list[Proposal]]:
        """The answer, and all that may answer a part of the question."""
        parts = intent_of(query.question).parts
        each = [self._answered(part.asked, evidence, documents, apart=len(parts) > 1) for part in parts]
        proposals = [one for _, found in each for one in found]
        if len(each) > 1 and all(one.abstained for one, _ in each):
            each = [self._answered(query.question, evidence, documents)]
        if len(each) == 1:
            return each[0][0], proposals
        from thresher.answering.parts import in_turn

        return in_turn([(part, one) for part, (one, _) in zip(parts, each, strict=True)]), proposals

    def _documents_of(self, evidence: Sequence[Evidence]) -> Mapping[str, Document]:
        return self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in evidence)))

    def times(self, query: Query, evidence: Sequence[Evidence]) -> Timed:
        """Which documents of some evidence are versions, and which of them are in force at the time asked about."""
        documents = self._documents_of(evidence)
        return timed(asked_time(query.question), documents.values(), self.today())

    def _answered(
        self, question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document], *, apart: bool = False
    ) -> tuple[Generation, list[Proposal]]:
        """The answer of the documents that are in force at the time asked about, and what may answer.

        What other versions say follows the answer. Keeps the judge's order; one part of a split question (`apart`)
        re-ranks by that part.
        """
        if apart or not all(RANK in piece.hit.scores for piece in evidence):
            places = sorted(self.spans(question, evidence, documents), key=lambda place: -place.order)
            evidence = [place.piece for place in places]
        asked, allowed = asked_time(question), self._allowed(question)
        time = timed(asked, documents.values(), self.today())

        def proposed(question: str, pieces: Sequence[Evidence]) -> list[Proposal]:
            return self.proposals(question, pieces, documents, allowed) if pieces else []

        of_time, of_other_times, others = parted(evidence, time)
        found = [*proposed(asked.rest, of_time), *proposed(question, others)]
        past = proposed(asked.rest, of_other_times)
        found = in_order(found or [replace(one, probability=0.0, signs=None) for one in past])
        if not found:
            return abstention(NOT_ANSWERED if evidence else NO_EVIDENCE, Notes(facts={"proposals": []})), []
        found = own_first(found, documents, self.min_confidence)
        return self._answer(question, found, time, past), [*found, *past]

    def _allowed(self, question: str) -> Allowed:
        """Sentences but those that are struck, hold at another time, or name alike what differs."""
        asked, today = asked_time(question), self.today()

        def allowed(sentence: str) -> bool:
            return holds(sentence) and asked.allows(sentence, today) and not names_alike(question, sentence)

        return allowed

    def proposals(
        self, question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document], allowed: Allowed
    ) -> list[Proposal]:
        """What may answer, the likeliest first: the best sentence of each passage, cells and entries.

        Of sentences those count that are `allowed`.
        """
        stretches = stretches_of(evidence, documents)
        tables = CellFinder(question, evidence, documents)

        def kept(document_id: str, start: int, end: int) -> bool:
            return any(stretch.holds(document_id, start, end) for stretch in stretches)

        read = Passages(self.sentences, self.confidence.answer)
        found = read(question, self.spans(question, evidence, documents), stretches, allowed)
        others: list[Proposal] = []
        if (answered := tables.answer(kept)) is not None:
            cell = Proposal(self.confidence.cell.lower_bound, *answered)
            # it is no less likely than the rows that it is read from
            least = max((one.probability for one in found if one.overlaps(cell)), default=0.0)
            others.append(replace(cell, probability=max(cell.probability, least)))
        if intent_of(question).identifiers:
            from thresher.answering.proposers.entries import Entries

            entries = Entries.near(question, stretches, documents)
            found = [one for one in found if not entries.is_listed(one)]
            others += entries.proposals(self.judge)
        return in_order([*others, *found])

    def _answer(
        self, question: str, proposals: Sequence[Proposal], time: Timed, past: Sequence[Proposal]
    ) -> Generation:
        """The first proposal and those behind it, or an abstention; `past` are those of versions not in force."""
        sure_from = self.answered_from if self.certified_from is None else self.certified_from
        choice = choose(question, proposals, least=self.min_confidence, sure_from=sure_from)
        reported = [one.to_dict() for one in proposals[:REPORTED]]
        notes = Notes(facts={"proposals": reported, "certainty": choice.certainty, "doubt": choice.doubt})
        if choice.certainty < self.min_confidence:
            return replace(abstention(NOT_ANSWERED, notes), alternatives=nearest(proposals))
        rivals, former = (proposals[1:], past) if self.rivals else ((), ())
        return shown(question, choice, time, rivals=rivals, past=former, notes=notes)


def parted(evidence: Sequence[Evidence], time: Timed) -> tuple[list[Evidence], list[Evidence], list[Evidence]]:
    """Evidence of the versions that are in force, of their other versions, and of documents without versions."""
    of_time, of_other_times, others = list[Evidence](), list[Evidence](), list[Evidence]()
    for piece in evidence:
        id_ = piece.hit.chunk.document_id
        (of_time if id_ in time.answering else of_other_times if id_ in time.versions else others).append(piece)
    return of_time, of_other_times, others


def _is_of(piece: Evidence, citation: Citation) -> bool:
    same = piece.hit.chunk.document_id == citation.document_id
    return same and piece.start < citation.end and citation.start < piece.end
