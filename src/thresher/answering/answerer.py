"""The answer without a chat model: the passage or cell that most probably answers, shown and not asserted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from thresher.answer import NOT_ANSWERED
from thresher.answering.cells import CellFinder
from thresher.answering.citations import NO_EVIDENCE, LocalReading, abstention, cite
from thresher.answering.doubts import others_are_as_near, reason
from thresher.answering.passage import Passage, Proposal, Stretch, passage_of, stretches_of
from thresher.answering.sentences import Allowed, Marked, SentenceFinder
from thresher.answering.spans import LEAST_PROBABILITY, RANK, AnswerSpan, Confidence, Signs, SpanFinder
from thresher.protocols import Documents, PairReader
from thresher.questions import SubQuestion, asked_apart, compared
from thresher.structure.entries import Entry, Named, entry_probability, named_in
from thresher.structure.versions import Timed, asked_time, timed
from thresher.text.boilerplate import asks, asks_for_questions
from thresher.text.entities import facts_in, heads_in
from thresher.text.marks import holds, void_spans
from thresher.text.passages import share_of_runs
from thresher.text.sentences import Span
from thresher.text.terms import term_set
from thresher.types import (
    HERE,
    IN_DOUBT,
    Alternative,
    Citation,
    Document,
    Evidence,
    Generation,
    Notes,
    Query,
    log_odds,
)
from thresher.verification.conflicts import SHARED, SHARED_WITHIN, are_rivals
from thresher.verification.contradiction import names_alike

if TYPE_CHECKING:
    from thresher.answering.comparing import Side

MOST_ALTERNATIVES = 2

MOST_READ = 4
"""Passages, the first in the recipe's order, that are read sentence by sentence. Of 664 questions of four sets the
marked sentence is right for 241 with all eight, 241 with five, 240 with three."""

SAME = 0.7
"""Share of the runs of words of the shorter of two passages from which they are the same text."""

RIVAL_FROM, RIVAL_SHARE = 0.2, 0.4
"""Least probability, absolute and relative to the best span's, of a span elsewhere that is shown as contradicting it.
Chosen on the half of benchmarks/planted_conflicts.py that is for choosing."""

REPORTED = 12
"""Proposals in the trace."""

UNDECIDED = 0.4
"""Highest probability where another passage is as near: of 79 such answers 31 are right."""

NOT_COMPARED = "No passage compares the two."
"""Why an answer is in doubt."""


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
        return self._read(query, evidence)[0]

    def reading(self, query: Query, evidence: Sequence[Evidence]) -> LocalReading:
        """Which pieces of the evidence answer, so that a sentence of a chat model may rest on them; or the refusal.

        Those that are shown without a model where an answer is, and those that answer alone.
        """
        local, proposals = self._read(query, evidence)
        if local.abstained:
            return LocalReading((), local)
        probable = (local.certainty or 0.0) >= self.answered_from
        cited = [*local.citations, *(one.citation for one in local.alternatives)] if probable else []
        cited += [mine for one in proposals if one.probability >= self.answered_from for mine in one.citations]
        answering = {at for at, piece in enumerate(evidence) if any(_is_of(piece, one) for one in cited)}
        return LocalReading(answering, answer=local if probable and not local.doubtful else None)

    def _read(self, query: Query, evidence: Sequence[Evidence]) -> tuple[Generation, list[Proposal]]:
        """The answer, and all that may answer a part of the question."""
        documents = self._documents_of(evidence)
        parts = asked_apart(query.question)
        each = [self._answered(part.asked, evidence, documents, apart=len(parts) > 1) for part in parts]
        proposals = [one for _, found in each for one in found]
        if len(each) > 1 and all(one.abstained for one, _ in each):
            each = [self._answered(query.question, evidence, documents)]
        answers = [one for one, _ in each]
        return answers[0] if len(answers) == 1 else in_turn(list(zip(parts, answers, strict=True))), proposals

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

        What other versions say follows the answer.
        Evidence is taken in its order, and, of one part of a question `apart`, in the order of what it says to that.
        """
        if apart or not all(RANK in piece.hit.scores for piece in evidence):
            places = sorted(self.spans(question, evidence, documents), key=lambda place: -place.order)
            evidence = [place.piece for place in places]
        asked, allowed = asked_time(question), self._allowed(question)
        time = timed(asked, documents.values(), self.today())

        def proposed(question: str, pieces: Sequence[Evidence]) -> list[Proposal]:
            found = self.proposals(question, pieces, documents, allowed) if pieces else []
            if max((one.probability for one in found), default=1.0) < self.answered_from:
                # no passage compares the two: those that speak of one of them
                of_one = (
                    one for name in compared(question) or () for one in self.proposals(name, pieces, documents, allowed)
                )
                found += [one for one in of_one if one.passage is not None]
            return found

        of_time, of_other_times, others = parted(evidence, time)
        found = [*proposed(asked.rest, of_time), *proposed(question, others)]
        past = proposed(asked.rest, of_other_times)
        found = found or [replace(one, probability=0.0, signs=None) for one in past]
        if found:
            found = _own_first(_in_order(found), documents, self.min_confidence)
            return self._answer(question, found, time, past), [*found, *past]
        return abstention(NOT_ANSWERED if evidence else NO_EVIDENCE, Notes(facts={"proposals": []})), []

    def _allowed(self, question: str) -> Allowed:
        """Sentences but questions, and those that are struck, hold at another time, or name alike what differs."""
        asked, today, questions = asked_time(question), self.today(), asks_for_questions(question)

        def allowed(sentence: str) -> bool:
            says = holds(sentence) and (questions or not asks(sentence))
            return says and asked.allows(sentence, today) and not names_alike(question, sentence)

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

        places = self.spans(question, evidence, documents)
        found = self._passages(question, places, stretches, allowed)
        others: list[Proposal] = []
        if (cell := tables.answer(kept)) is not None:
            others.append(Proposal(self.confidence.cell.lower_bound, *cell))
        if any(heads_in(question)):
            named = _named_near(question, stretches, documents)
            found = [one for one in found if not any(_is_listed(cited, named, one.passage) for cited in one.citations)]
            others += self._entries(question, places, stretches, named)
        return _in_order([*found, *others])

    def _passages(
        self, question: str, places: Sequence[AnswerSpan], stretches: Sequence[Stretch], allowed: Allowed
    ) -> list[Proposal]:
        """What is shown around the best sentence of each piece of evidence, the best of these first.

        Each is as probable as an answer with its signs is right; none is likelier than one before it.
        """
        contents = asks_for_questions(question)
        whole: list[tuple[Passage, AnswerSpan]] = []
        for place in places:
            if len(whole) == MOST_READ:
                break
            piece = place.piece
            stretch = next(one for one in stretches if one.holds(place.document_id, piece.start, piece.end))
            if (passage := passage_of(stretch, piece, (place.start, place.end), contents=contents)) is not None:
                whole.append((passage, place))
        best = zip(whole, self.sentences(question, whole, allowed), strict=True)
        proposals: list[Proposal] = []
        for one in _in_order(_proposal(question, *each, marked) for each, marked in best if marked is not None):
            certainty = self.confidence.answer.probability(one.signs or Signs())
            most = proposals[-1].probability if proposals else 1.0
            proposals.append(replace(one, probability=min(certainty, most)))
        return proposals

    def _entries(
        self, question: str, places: Sequence[AnswerSpan], stretches: Sequence[Stretch], named: Mapping[str, Named]
    ) -> list[Proposal]:
        """The entries under the identifiers that a question names, as far as they were kept."""
        proposals = []
        for stretch in stretches:
            document, known = stretch.document, named.get(stretch.piece.hit.chunk.document_id)
            if document is None or known is None:
                continue
            for entry in known.of(stretch.start, stretch.end):
                passage = _within(stretch, entry)
                texts = [passage.quote, *known.renamed(document, entry)]
                own, *others = self.judge.read(question, texts, [stretch.title] * len(texts))
                probability = entry_probability(question, own.relevance, [other.relevance for other in others])
                proposals.append(Proposal(probability, passage.quote, (passage.citation(1),), passage))
        return proposals

    def _shown(self, proposal: Proposal, copies: Sequence[Proposal]) -> tuple[str, tuple[Citation, ...]]:
        """The text with markers from [1], and the citations; of a passage what is marked in it is bold."""
        passage, marked = proposal.passage, proposal.marked
        if passage is None:
            return proposal.text, proposal.citations
        (cited,) = proposal.citations
        if marked is not None and len(passage.sentences) > 1:
            cited = replace(cited, mark=(passage.start + marked[0], passage.start + marked[1]))
        shown = passage.shown(marked)
        text = f"{shown}[1]" if shown.endswith("\n") else f"{shown} [1]"
        names = dict.fromkeys(PurePath(one.citations[0].source).name for one in copies)
        return (f"{text}\nThe same in {', '.join(names)}." if names else text), (cited,)

    # --- what is shown

    def _answer(
        self, question: str, proposals: Sequence[Proposal], time: Timed, past: Sequence[Proposal]
    ) -> Generation:
        """The first proposal and those behind it, or an abstention; `past` are those of versions not in force."""
        copies = _copies(proposals)
        best, *others = proposals
        names = None if best.passage is None else compared(question)
        sides = None if names is None else _compared(question, names, proposals, self.judge)
        if names is not None and (sides is None or _lacks_value(sides)) and not _says_both(best, names):
            best = replace(best, doubt=NOT_COMPARED)
        further = [one for one, *_ in copies[1:]]
        if others_are_as_near(question, best, further):
            best = replace(best, probability=min(best.probability, UNDECIDED))
        certainty = min(best.probability, self.min_confidence) if best.doubt else best.probability
        sure_from = self.answered_from if self.certified_from is None else self.certified_from
        doubtful = bool(best.doubt) or certainty < sure_from
        doubt = reason(question, best, further) if doubtful else None
        reported = [_reported(one) for one in proposals[:REPORTED]]
        notes = Notes(facts={"proposals": reported, "certainty": certainty, "doubt": doubt})
        if certainty < self.min_confidence:
            return abstention(NOT_ANSWERED, notes)
        hedge = IN_DOUBT if doubtful else "" if best.passage is None and sides is None else HERE
        text, citations = _told(sides) if sides is not None else self._shown(best, copies[0][1:])
        text = f"{hedge.rstrip()}{text}" if text.startswith("\n") else f"{hedge}{text}"
        if (version := time.versions.get(citations[0].document_id)) is not None:
            text = f"{text.rstrip()}\nIn force {version.days}"
            if version.where is not None:
                text = f"{text} [{len(citations) + 1}]"
                cited = _of_the_same(citations[0], version.document, version.where, len(citations) + 1)
                citations = (*citations, cited)
            text = f"{text}."
            if (other := self._rival(question, best, past)) is not None:
                quote, whose = " ".join(other.sentence.text.split()), time.versions[other.document_id]
                opening = "Superseded" if whose.since < version.since else "Replaced since"
                text = f"{text}\n{opening}, in force {whose.days}: {other.words}: “{quote}” [{len(citations) + 1}]"
                citations = (*citations, cite(len(citations) + 1, other.sentence))
        conflicts: tuple[tuple[int, int], ...] = ()
        if (rival := self._rival(question, best, others)) is not None:
            quote = " ".join(rival.sentence.text.split())
            same = rival.document_id == citations[0].document_id
            where = "Another place of the document" if same else "Another document"
            text = f"{text}\n{where} says {rival.words}: “{quote}” [{len(citations) + 1}]"
            conflicts = ((1, len(citations) + 1),)
            citations = (*citations, cite(len(citations) + 1, rival.sentence))
        separate = [
            each
            for each in copies[1:]
            if not any(same_place(mine, cited) for mine in each[0].citations for cited in citations)
        ]
        alternatives = []
        for marker, (one, *copied) in enumerate(separate[:MOST_ALTERNATIVES], start=len(citations) + 1):
            also, (cited,) = self._shown(one, copied)
            alternatives.append(Alternative(also.strip(), cited, one.probability).numbered(marker))
        return Generation(
            text,
            citations,
            reason=doubt,
            conflicts=conflicts,
            certainty=certainty,
            doubtful=doubtful,
            notes=notes,
            exact=True,
            alternatives=tuple(alternatives),
        )

    def _rival(self, question: str, best: Proposal, others: Sequence[Proposal]) -> AnswerSpan | None:
        """The likeliest span outside the best passage that cannot be right where that of the passage is."""
        own = best.place
        if not self.rivals or own is None or own.certainty < RIVAL_FROM:
            return None
        least = max(RIVAL_FROM, RIVAL_SHARE * own.certainty)
        places = [one.place for one in others if one.place is not None and not _shown_by(best, one.place)]
        for place in sorted(places, key=lambda place: -place.certainty):
            share = SHARED_WITHIN if place.document_id == own.document_id else SHARED
            if place.certainty >= least and are_rivals(question, own.in_sentence, place.in_sentence, share=share):
                return place
        return None


def _compared(
    question: str, names: tuple[str, str], proposals: Sequence[Proposal], judge: PairReader
) -> tuple[Side, Side] | None:
    from thresher.answering.comparing import side_by_side

    return side_by_side(question, names, proposals, judge)


def _told(sides: tuple[Side, Side]) -> tuple[str, tuple[Citation, ...]]:
    from thresher.answering.comparing import told

    return told(sides)


def _says_both(proposal: Proposal, names: tuple[str, str]) -> bool:
    """Whether a sentence of a passage speaks of both that are compared."""
    passage = proposal.passage
    return passage is not None and any(
        all(term_set(name) <= term_set(passage.quote[slice(*span)]) for name in names) for span in passage.sentences
    )


def _lacks_value(sides: tuple[Side, Side]) -> bool:
    """Whether one of two that are compared has a quantity, and the other has none."""
    return sides[0].has_quantity != sides[1].has_quantity


def _of_the_same(citation: Citation, document: Document, span: Span, marker: int) -> Citation:
    start, end = span
    quote, page = document.text[start:end], document.page_at(start)
    return replace(citation, marker=marker, start=start, end=end, quote=quote, page=page)


def in_turn(answers: Sequence[tuple[SubQuestion, Generation]]) -> Generation:
    """The answers to the parts of a question side by side, each below its part; an abstention if all are.

    Nothing is concluded from them together. A passage that answers two parts is shown once.
    """
    given = [(part, one) for part, one in answers if not one.abstained]
    lines: list[str] = []
    citations: list[Citation] = []
    conflicts: list[tuple[int, int]] = []
    told: list[dict[str, Any]] = []
    for part, one in answers:
        shown = {mine.marker: _marker(mine, citations) for mine in one.citations}
        if one.abstained:
            lines.append(f"Not answered: {part.text}")
        elif not one.citations or None in shown.values():
            shift = len(citations)
            lines.append(f"{part.text}\n{renumbered(one.text, one.citations, shift)}")
            shown = {mine.marker: mine.marker + shift for mine in one.citations}
            citations += [replace(citation, marker=citation.marker + shift) for citation in one.citations]
            conflicts += [(left + shift, right + shift) for left, right in one.conflicts]
        else:
            lines.append(f"{part.text} As above {''.join(f'[{marker}]' for marker in dict.fromkeys(shown.values()))}.")
        probability = None if one.certainty is None else round(one.certainty, 3)
        told.append(
            {"question": part.text, "state": one.state, "probability": probability, "citations": [*shown.values()]}
        )
    notes = sum((one.notes for _, one in answers), Notes()) + Notes(facts={"parts": told})
    if not given:
        return replace(answers[0][1], notes=notes)
    others = (other for _, one in given for other in one.alternatives)
    apart = (one for one in others if not any(same_place(one.citation, cited) for cited in citations))
    best = sorted(apart, key=lambda one: -one.probability)[:MOST_ALTERNATIVES]
    return Generation(
        "\n".join(lines),
        tuple(citations),
        conflicts=tuple(conflicts),
        certainty=min(one.certainty or 0.0 for _, one in given),
        doubtful=any(one.doubtful for _, one in given),
        notes=notes,
        exact=True,
        alternatives=tuple(one.numbered(marker) for marker, one in enumerate(best, start=len(citations) + 1)),
    )


def _marker(citation: Citation, shown: Sequence[Citation]) -> int | None:
    """The marker of a place that is shown already; None for one that is not."""
    return next((other.marker for other in shown if same_place(citation, other)), None)


def parted(evidence: Sequence[Evidence], time: Timed) -> tuple[list[Evidence], list[Evidence], list[Evidence]]:
    """Evidence of the versions that are in force, of their other versions, and of documents without versions."""
    of_time, of_other_times, others = list[Evidence](), list[Evidence](), list[Evidence]()
    for piece in evidence:
        id_ = piece.hit.chunk.document_id
        (of_time if id_ in time.answering else of_other_times if id_ in time.versions else others).append(piece)
    return of_time, of_other_times, others


def _in_order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The likeliest first, those as likely as they came."""
    return sorted(proposals, key=lambda one: -one.probability)


def _own_first(proposals: Sequence[Proposal], documents: Mapping[str, Document], least: float) -> list[Proposal]:
    """The proposals in their order, those of a quoted mail behind what the quoting mail says, if that may answer."""
    own: dict[str, float] = {}
    for one in proposals:
        if one.probability >= least:
            own.setdefault(one.citations[0].source, one.probability)
    found: list[tuple[bool, Proposal]] = []
    for one in proposals:
        document = documents.get(one.citations[0].document_id)
        quoted_in = document.container if document is not None and document.kind == "quote" else ""
        most = own.get(quoted_in, 1.0)
        found.append((quoted_in in own, replace(one, probability=min(one.probability, most))))
    return [one for _, one in sorted(found, key=lambda each: (-each[1].probability, each[0]))]


def _proposal(question: str, whole: Passage, place: AnswerSpan, marked: Marked) -> Proposal:
    """What is shown of a passage around its best sentence; the likeliest words, where they stand in that sentence."""
    passage = whole.around(marked.span)
    shift = passage.start - whole.start
    start, end = marked.span[0] - shift, marked.span[1] - shift
    inside = passage.start + start <= place.start and place.end <= passage.start + end
    spoken = place if inside and _stands(place) else None
    return Proposal(
        marked.probability,
        passage.quote,
        (passage.citation(1),),
        passage,
        (start, end),
        spoken,
        marked.signs,
        log_odds(marked.probability, LEAST_PROBABILITY),
    )


def _stands(place: AnswerSpan) -> bool:
    """Whether the words of a place are not struck and not an option that is not ticked."""
    sentence = place.sentence
    first, last = place.start - sentence.start, place.end - sentence.start
    return not any(start < last and first < end for start, end in void_spans(sentence.text))


def _within(stretch: Stretch, entry: Entry) -> Passage:
    """The kept part of an entry."""
    start, end = max(entry.start, stretch.start), min(entry.end, stretch.end)
    quote = stretch.text[start - stretch.start : end - stretch.start].rstrip()
    return Passage(stretch, start, start + len(quote), quote, entry=True)


def _named_near(question: str, stretches: Sequence[Stretch], documents: Mapping[str, Document]) -> dict[str, Named]:
    """The entries around the evidence of each document."""
    places: dict[str, list[Span]] = {id_: [] for id_ in documents}
    for one in stretches:
        if one.document is not None:
            places[one.document.id].append((one.start, one.end))
    return {id_: named_in(documents[id_], question, own) for id_, own in places.items()}


def _is_listed(cited: Citation, named: Mapping[str, Named], passage: Passage | None) -> bool:
    """Whether a citation stands under another identifier than the question names; a passage, under any of its list."""
    if (known := named.get(cited.document_id)) is None:
        return False
    place = (cited.start, cited.end)
    return known.is_other(*place) or (passage is not None and bool(known.of(*place)))


def _shown_by(proposal: Proposal, place: AnswerSpan) -> bool:
    """Whether a passage shows a span: a contradiction within a passage is read there."""
    passage = proposal.passage
    return passage is not None and passage.touches(place.document_id, place.start, place.end)


def _copies(proposals: Sequence[Proposal]) -> list[list[Proposal]]:
    """Proposals that say different things, each with its copies behind it.

    One that lacks a name of the question which the first has is about something else.
    """
    shown: list[list[Proposal]] = [[proposals[0]]]
    for one in proposals[1:]:
        if one.passage is None or _lacks_more(one, proposals[0]) or any(_overlap(one, first) for first, *_ in shown):
            continue
        if (same := next((each for each in shown if _says_the_same(one, each[0])), None)) is not None:
            same.append(one)
        else:
            shown.append([one])
    return shown


def _lacks_more(one: Proposal, first: Proposal) -> bool:
    if one.signs is None or first.signs is None:
        return False
    return (one.signs.uncovered or 0.0) > (first.signs.uncovered or 0.0)


def _overlap(one: Proposal, other: Proposal) -> bool:
    return any(same_place(mine, theirs) for mine in one.citations for theirs in other.citations)


def _says_the_same(one: Proposal, other: Proposal) -> bool:
    """Whether two passages are the same text, in another file or format, and name and count the same."""
    short, long = sorted((one.text, other.text), key=len)
    return facts_in(short) <= facts_in(long) and share_of_runs(short, long) >= SAME


def _is_of(piece: Evidence, citation: Citation) -> bool:
    same = piece.hit.chunk.document_id == citation.document_id
    return same and piece.start < citation.end and citation.start < piece.end


def same_place(one: Citation, other: Citation) -> bool:
    """Whether two citations overlap in a document."""
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


def renumbered(text: str, citations: Sequence[Citation], shift: int) -> str:
    """A text with its own markers raised; brackets within quotes and tables stay."""
    own = {citation.marker for citation in citations}

    def raised(found: re.Match[str]) -> str:
        return f"[{int(found[1]) + shift}]" if found[1] is not None and int(found[1]) in own else found[0]

    return re.sub(r"“[^”]*”|^\|.*$|\[(\d+)\]", raised, text, flags=re.MULTILINE)


def _reported(proposal: Proposal) -> dict[str, Any]:
    kind = "cell" if proposal.passage is None else "entry" if proposal.passage.entry else "passage"
    shown: dict[str, Any] = {"kind": kind, "text": proposal.text, "probability": round(proposal.probability, 3)}
    if proposal.signs is not None:
        shown |= proposal.signs.to_dict()
    if (place := proposal.place) is not None:
        shown |= {"words": place.words, "span": round(place.certainty, 3)}
    return shown
