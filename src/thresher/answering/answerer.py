"""The answer without a chat model: the passage or cell that most probably answers, shown and not asserted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import exp
from typing import Any, ClassVar

from thresher.answer import not_answered
from thresher.answering.cells import Tables
from thresher.answering.citations import NO_EVIDENCE, abstention, cite
from thresher.answering.passage import Passage, Stretch, passage_of, stretches_of
from thresher.answering.spans import Confidence, Place, SpanFinder, share_of_terms, uncovered
from thresher.protocols import Documents, PairReader
from thresher.questions import ADDED, Part, asked_alike, asked_apart
from thresher.structure.entries import Entry, Named, answers, as_written, named_in
from thresher.structure.versions import Timed, asked_time, timed
from thresher.text.boilerplate import asks, asks_for_questions, asks_for_references, says_nothing
from thresher.text.entities import heads_in
from thresher.text.injection import is_command
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import term_set
from thresher.types import HERE, PERHAPS_HERE, Alternative, Citation, Document, Evidence, Generation, Notes, Query
from thresher.verification.conflicts import SHARED, SHARED_WITHIN, are_rivals
from thresher.verification.contradiction import tells_opposite

MOST_READ = 5
"""Windows, the most relevant ones, whose passages are read whole and sentence by sentence."""

MOST_ALTERNATIVES = 2

LEADS_FROM = 0.55
"""Probability from which a span stands before its passage: a wrong one misleads more than a right one helps."""

SPAN_LOGITS = 3.0
"""Weight of the span's probability beside the judge's logit of its sentence. With the weights before 26 November 2026
the sentence with the answer of 200 questions of SQuAD (tune fifth) was marked for .89, by the judge alone for .86."""

ALTERNATIVE_FROM, ALTERNATIVE_SHARE = 0.1, 0.2
"""Least probability of an alternative, and least share of the best one's: more is read past."""

RIVAL_FROM, RIVAL_SHARE = 0.2, 0.4
"""Least probability, absolute and relative to the best span's, of a span elsewhere that is shown as contradicting it.
Chosen on the half of benchmarks/planted_conflicts.py that is for choosing."""

REPORTED = 12
"""Proposals in the trace."""

Allowed = Callable[[str], bool]
"""Whether a sentence may answer a question."""

_MARK = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-z])[.)]")
"""Of an item, cut off as a sentence of its own: 13., (a)."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A passage or a cell that may be shown, with its probability to hold the answer."""

    probability: float
    text: str
    """Of a cell with its markers, which count on from [1]; of a passage its quote."""
    citations: tuple[Citation, ...]
    leads: bool
    """Whether the words that answer stand first when it is shown."""
    passage: Passage | None = None
    """None for a cell."""
    place: Place | None = None
    """The most probable span of the passage."""
    facts: Mapping[str, Any] | None = None
    """Its signs, for the trace."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """Proposes passages and cells of the evidence and shows the most probable one, with up to two alternatives."""

    spans: SpanFinder
    judge: PairReader
    documents: Documents
    confidence: Confidence
    abstain_below: float = 0.3
    """Probability of the best proposal below which there is no answer."""
    hedge_below: float = 0.5
    """Probability below which a passage is shown as doubtful."""
    rivals: bool = False
    """Whether a span elsewhere that contradicts the answer is shown beside it."""
    today: Callable[[], date] = date.today

    about: ClassVar[str] = "best passage or cell"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The most probable passage or cell, cited; of a question with two question words, one for each."""
        documents = self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in evidence)))
        parts = asked_apart(query.question)
        each = [self._answered(part.asked, evidence, documents) for part in parts]
        if len(each) > 1 and all(one.abstained for one in each):
            each = [self._answered(query.question, evidence, documents)]
        return each[0] if len(each) == 1 else in_turn(list(zip(parts, each, strict=True)))

    def _answered(self, question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document]) -> Generation:
        """The answer of the documents that are in force at the time asked about; what other versions say follows it."""
        asked, allowed = asked_time(question), self._allowed(question)
        time = timed(asked, documents.values(), self.today())

        def proposed(question: str, pieces: Sequence[Evidence]) -> list[Proposal]:
            ways = asked_alike(question) if pieces else ()
            return [one for way in ways for one in self.proposals(way, pieces, documents, allowed)]

        of_time, of_other_times, others = parted(evidence, time)
        found = [*proposed(asked.rest, of_time), *proposed(question, others)]
        past = proposed(asked.rest, of_other_times)
        found = found or [replace(one, probability=0.0) for one in past]
        if found:
            return self._answer(question, _in_order(found), time, past)
        chunk = evidence[0].hit.chunk if evidence else None
        reason = NO_EVIDENCE if chunk is None else not_answered(evidence[0].text, chunk.title or chunk.source)
        return abstention(reason, Notes(facts={"proposals": []}))

    def _allowed(self, question: str) -> Allowed:
        """Sentences but questions, and those that hold at another time than is asked about, or say the opposite."""
        asked, today, questions = asked_time(question), self.today(), asks_for_questions(question)

        def allowed(sentence: str) -> bool:
            says = questions or not asks(sentence)
            return says and asked.allows(sentence, today) and not tells_opposite(question, sentence)

        return allowed

    def proposals(
        self, question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document], allowed: Allowed
    ) -> list[Proposal]:
        """What may answer, the most probable first; of sentences those that are `allowed`."""
        stretches = stretches_of(evidence, documents)
        tables = Tables(question, evidence, documents)

        def kept(document_id: str, start: int, end: int) -> bool:
            return any(stretch.holds(document_id, start, end) for stretch in stretches)

        places = self.spans(question, tables.text)
        found = self._passages(question, places, stretches, allowed)
        if (cell := tables.answer(kept)) is not None:
            found.append(Proposal(self.confidence.cell.lower_bound, *cell, leads=True))
        if any(heads_in(question)):
            named = {id_: named_in(document, question) for id_, document in documents.items()}
            found = [one for one in found if not any(_is_listed(cited, named, one.passage) for cited in one.citations)]
            found += self._entries(question, places, stretches, named)
        return _in_order(found)

    # --- passages

    def _passages(
        self, question: str, places: Sequence[Place], stretches: Sequence[Stretch], allowed: Allowed
    ) -> list[Proposal]:
        """The passages around the spans and the best sentences of the most relevant windows, each once."""
        read = places[:MOST_READ]
        lists = {"references": asks_for_references(question), "questions": asks_for_questions(question)}
        found: dict[tuple[str, int, int], tuple[Passage, Place]] = {}
        for place, anchors in zip(read, self._anchors(question, read, allowed), strict=True):
            for start, end in anchors:
                stretch = next((one for one in stretches if one.holds(place.document_id, start, end)), None)
                passage = passage_of(stretch, start, end, **lists) if stretch is not None else None
                if passage is not None:
                    found.setdefault((passage.document_id, passage.start, passage.end), (passage, place))
        spoken = [place for place in places if allowed(place.sentence.text)]
        asked = [one.asked for one, _ in found.values()]
        texts = [f"{above}\n\n{one.quote}".lstrip() for above, (one, _) in zip(asked, found.values(), strict=True)]
        readings = self.judge.read(question, texts, [one.stretch.title for one, _ in found.values()])
        rarity = self.spans.rarity(question)
        proposals = []
        for (passage, place), above, reading in zip(found.values(), asked, readings, strict=True):
            known = f"{passage.stretch.title}. {above} {passage.quote}"
            terms, lacking = share_of_terms(rarity, question, known), uncovered(question, known)
            signs = replace(place.signs, whole=reading.relevance, terms=terms, uncovered=lacking)
            probability = self.confidence.passage.probability(signs)
            proposals.append(_proposal(passage, _best_span(passage, spoken), probability, signs.to_dict()))
        return proposals

    def _entries(
        self, question: str, places: Sequence[Place], stretches: Sequence[Stretch], named: Mapping[str, Named]
    ) -> list[Proposal]:
        """The entries under the identifiers that a question names, as far as they were kept."""
        proposals = []
        for stretch in stretches:
            document, known = stretch.document, named.get(stretch.piece.hit.chunk.document_id)
            if document is None or known is None:
                continue
            for entry in known.of(stretch.start, stretch.end):
                passage, asked = _within(stretch, entry), as_written(question, document, entry)
                texts = [passage.quote, *known.renamed(document, entry)]
                own, *others = self.judge.read(asked, texts, [stretch.title] * len(texts))
                probability = answers(question, own.relevance, [other.relevance for other in others])
                signs = {"whole": round(own.relevance, 3)}
                proposals.append(_proposal(passage, _best_span(passage, places), probability, signs))
        return proposals

    def _anchors(self, question: str, places: Sequence[Place], allowed: Allowed) -> list[list[Span]]:
        """Of each place its own span, and the sentence of its window that the judge puts first; in the document."""

        def may_answer(sentence: str) -> bool:
            return allowed(sentence) and not says_nothing(sentence)

        windows = [place.window for place in places]
        each = [
            [pair for pair in _with_questions(text, sentence_spans(text)) if may_answer(text[slice(*pair[0])])]
            for text in (window.text for window in windows)
        ]
        texts = [read for spans in each for _, read in spans]
        above = [window.above for window, spans in zip(windows, each, strict=True) for _ in spans]
        readings = iter(self.judge.read(question, texts, above))
        anchors = []
        for place, spans in zip(places, each, strict=True):
            best = max(((next(readings).relevance, span) for span, _ in spans), default=None)
            found = [(place.start, place.end)] if allowed(place.sentence.text) else []
            if best is not None:
                piece, start, end = place.window.piece_at(*best[1])
                found.append((piece.start + start, piece.start + end))
            anchors.append(found)
        return anchors

    def _shown(self, question: str, proposal: Proposal) -> str:
        """The text with markers from [1]; of a passage the words that answer in front, or its best sentence marked."""
        passage, place = proposal.passage, proposal.place
        if passage is None:
            return proposal.text
        if proposal.leads and place is not None:
            shown = passage.shown((place.start - passage.start, place.end - passage.start))
            parted = "" if shown.startswith("\n") else "\n"
            return f"{place.words} [1]{parted}{shown.rstrip()}"
        shown = passage.shown(self._best_sentence(question, passage, place))
        return f"{shown}[1]" if shown.endswith("\n") else f"{shown} [1]"

    def _best_sentence(self, question: str, passage: Passage, place: Place | None) -> Span | None:
        """The sentence of a passage that the judge puts first, that of the span having a start.

        Of a topic in brackets sentences with a typed word come first. None for one sentence and for an entry.
        """
        every, allowed = passage.sentences, self._allowed(question)
        spans = [
            ((start, end), read)
            for (start, end), read in _with_questions(passage.quote, every, passage.asked)
            if allowed(passage.quote[start:end]) and not _MARK.fullmatch(passage.quote[start:end])
        ]
        below = passage.name_end
        spans = [one for one in spans if one[0][0] >= below] or spans
        if len(every) < 2 or passage.entry or not spans:
            return None
        if (added := ADDED.fullmatch(question)) is not None:
            typed = term_set(added["typed"])
            spans = [(span, read) for span, read in spans if typed & term_set(read)] or spans
        readings = self.judge.read(question, [read for _, read in spans], [passage.stretch.title] * len(spans))

        def score(at: int) -> float:
            (start, end), _ = spans[at]
            holds = place is not None and start <= place.start - passage.start < end
            return readings[at].relevance + (SPAN_LOGITS * exp(place.signs.place or 0.0) if holds and place else 0.0)

        return spans[max(range(len(spans)), key=score)][0]

    # --- what is shown

    def _answer(
        self, question: str, proposals: Sequence[Proposal], time: Timed, past: Sequence[Proposal]
    ) -> Generation:
        """The best proposal, or an abstention that names the nearest; `past` are those of versions not in force."""
        best, *others = proposals
        reported = [_reported(one) for one in proposals[:REPORTED]]
        notes = Notes(facts={"proposals": reported, "certainty": best.probability})
        if best.probability < self.abstain_below:
            return abstention(not_answered(*nearest(best)), notes)
        hedge = "" if best.leads else (PERHAPS_HERE if best.probability < self.hedge_below else HERE)
        text, citations = self._shown(question, best), best.citations
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
        alternatives = [
            Alternative(self._shown(question, one).strip(), one.citations[0], one.probability)
            for one in _apart(others, best, citations)
        ]
        return Generation(
            text,
            citations,
            conflicts=conflicts,
            certainty=best.probability,
            notes=notes,
            exact=True,
            alternatives=tuple(one.numbered(at) for at, one in enumerate(alternatives, start=len(citations) + 1)),
        )

    def _rival(self, question: str, best: Proposal, others: Sequence[Proposal]) -> Place | None:
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


def _of_the_same(citation: Citation, document: Document, span: Span, marker: int) -> Citation:
    start, end = span
    quote, page = document.text[start:end], document.page_at(start)
    return replace(citation, marker=marker, start=start, end=end, quote=quote, page=page)


def in_turn(answers: Sequence[tuple[Part, Generation]]) -> Generation:
    """The answers to the parts of a question, one a line, and the parts without an answer; an abstention if all are.

    A passage that answers two parts is shown once.
    """
    given = [(part, one) for part, one in answers if not one.abstained]
    facts = {"parts": [{"question": part.text, "answered": not one.abstained} for part, one in answers]}
    notes = sum((one.notes for _, one in answers), Notes()) + Notes(facts=facts)
    if not given:
        return replace(answers[0][1], notes=notes)
    lines: list[str] = []
    citations: list[Citation] = []
    conflicts: list[tuple[int, int]] = []
    for part, one in answers:
        shift = len(citations)
        if one.abstained:
            lines.append(f"Not answered: {part.text}")
        elif not all(any(same_place(mine, other) for other in citations) for mine in one.citations):
            lines.append(renumbered(one.text, one.citations, shift))
            citations += [replace(citation, marker=citation.marker + shift) for citation in one.citations]
            conflicts += [(left + shift, right + shift) for left, right in one.conflicts]
    others = (other for _, one in given for other in one.alternatives)
    apart = (one for one in others if not any(same_place(one.citation, cited) for cited in citations))
    best = sorted(apart, key=lambda one: -one.probability)[:MOST_ALTERNATIVES]
    return Generation(
        "\n".join(lines),
        tuple(citations),
        conflicts=tuple(conflicts),
        certainty=min(one.certainty or 0.0 for _, one in given),
        notes=notes,
        exact=True,
        alternatives=tuple(one.numbered(marker) for marker, one in enumerate(best, start=len(citations) + 1)),
    )


def parted(evidence: Sequence[Evidence], time: Timed) -> tuple[list[Evidence], list[Evidence], list[Evidence]]:
    """Evidence of the versions that are in force, of their other versions, and of documents without versions."""
    of_time, of_other_times, others = list[Evidence](), list[Evidence](), list[Evidence]()
    for piece in evidence:
        id_ = piece.hit.chunk.document_id
        (of_time if id_ in time.answering else of_other_times if id_ in time.versions else others).append(piece)
    return of_time, of_other_times, others


def _with_questions(text: str, spans: Sequence[Span], above: str = "") -> Iterator[tuple[Span, str]]:
    """Each sentence as it is read: behind the question that stands above it ("Is parking free? Yes.")."""
    for start, end in spans:
        sentence = text[start:end]
        yield (start, end), f"{above} {sentence}".lstrip()
        above = sentence if asks(sentence) else ""


def _in_order(proposals: Iterable[Proposal]) -> list[Proposal]:
    return sorted(proposals, key=lambda one: (-one.probability, one.text))


def _proposal(passage: Passage, place: Place | None, probability: float, signs: Mapping[str, float]) -> Proposal:
    """A passage with its most probable span: nearly certain words are as probable as the passage at least."""
    leads = place is not None and place.certainty >= LEADS_FROM and bool(place.words)
    facts: dict[str, Any] = dict(signs)
    if place is not None:
        probability = max(probability, place.certainty) if leads else probability
        facts |= {"words": place.words, "span": round(place.certainty, 3)}
    return Proposal(probability, passage.quote, (passage.citation(1),), leads, passage, place, facts)


def _best_span(passage: Passage, places: Sequence[Place]) -> Place | None:
    kept = (one for one in places if passage.stretch.holds(one.document_id, one.start, one.end))
    inside = (one for one in kept if passage.start <= one.start and one.end <= passage.end)
    return max(inside, key=lambda one: one.certainty, default=None)


def _within(stretch: Stretch, entry: Entry) -> Passage:
    """The kept part of an entry."""
    start, end = max(entry.start, stretch.start), min(entry.end, stretch.end)
    quote = stretch.text[start - stretch.start : end - stretch.start].rstrip()
    return Passage(stretch, start, start + len(quote), quote, entry=True)


def _is_listed(cited: Citation, named: Mapping[str, Named], passage: Passage | None) -> bool:
    """Whether a citation stands under another identifier than the question names; a passage, under any of its list."""
    if (known := named.get(cited.document_id)) is None:
        return False
    place = (cited.start, cited.end)
    return known.is_other(*place) or (passage is not None and bool(known.of(*place)))


def _shown_by(proposal: Proposal, place: Place) -> bool:
    """Whether a passage shows a span: a contradiction within a passage is read there."""
    passage = proposal.passage
    return passage is not None and passage.touches(place.document_id, place.start, place.end)


def _apart(others: Sequence[Proposal], best: Proposal, cited: Sequence[Citation]) -> list[Proposal]:
    shown: list[Proposal] = [best]
    least = max(ALTERNATIVE_FROM, ALTERNATIVE_SHARE * best.probability)
    for one in others:
        seen = (other.passage for other in shown if other.passage is not None)
        apart = one.passage is not None and not any(map(one.passage.overlaps, seen))
        apart = apart and not any(same_place(mine, other) for mine in one.citations for other in cited)
        if apart and one.probability >= least and len(shown) <= MOST_ALTERNATIVES:
            shown.append(one)
    return shown[1:]


def same_place(one: Citation, other: Citation) -> bool:
    """Whether two citations overlap in a document."""
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


def renumbered(text: str, citations: Sequence[Citation], shift: int) -> str:
    """A text with its own markers raised; brackets within quotes and tables stay."""
    own = {citation.marker for citation in citations}

    def raised(found: re.Match[str]) -> str:
        return f"[{int(found[1]) + shift}]" if found[1] is not None and int(found[1]) in own else found[0]

    return re.sub(r"“[^”]*”|^\|.*$|\[(\d+)\]", raised, text, flags=re.MULTILINE)


def nearest(proposal: Proposal) -> tuple[str, str]:
    """The most probable sentence of what is not shown as an answer, with its title."""
    cited, place = proposal.citations[0], proposal.place
    quote = cited.quote if place is None or is_command(place.sentence.text) else place.sentence.text
    return quote, cited.title or cited.source


def _reported(proposal: Proposal) -> dict[str, Any]:
    kind = "cell" if proposal.passage is None else "passage"
    described = {"kind": kind, "text": proposal.text, "probability": round(proposal.probability, 3)}
    return {**described, **(proposal.facts or {})}
