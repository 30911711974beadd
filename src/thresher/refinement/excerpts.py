"""Evidence to excerpts within a budget of tokens: cut into sentences, read, and the best handed on.

A sentence is scored by three readings: whether its window of about ninety words answers the question, whether the
answer is in this sentence, and whether the sentence answers alone. The best are taken until one does not fit, so that a
larger budget contains a smaller one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from thresher.protocols import Documents, PairReader, Refiner, about
from thresher.refinement.refine import word_count
from thresher.text.boilerplate import has_labels, heading_above, leans
from thresher.text.entities import missing_details
from thresher.text.injection import is_command
from thresher.text.sentences import Span, sentence_spans, spans_of
from thresher.types import (
    UNIT,
    Document,
    Evidence,
    Excerpt,
    Hit,
    Judgement,
    Notes,
    Query,
    Reading,
    Refined,
    Score,
    Table,
)
from thresher.verification.conflicts import find_conflicts

WINDOW_WORDS = 90
"""As the reader of answers is given them (`answering.spans`)."""

LONGEST = 60
"""Words of a sentence; what is longer (a formula, a page without full stops) is cut into so many."""

LEAST_WORDS = 2
"""Of a piece: a single word says nothing alone."""

BASE, OF_EACH = 0.1, 0.45
"""What a sentence is worth in a window that answers, and what its own two readings add, 1 in all. The order hardly
depends on them: within 430 tokens 94 % of the answers stay for papers and all for NQ and SQuAD, with the encoder's
cosine as a third reading as many."""

OF_A_LOOKALIKE = 0.7
"""What is left of the worth for each name and number of the question that neither chunk nor title has: a manual of the
pump P23 answers about P17 as well as its own does, to a reader. It costs no answer where names are spelt otherwise."""

MOST_LACKING = 3
"""Names and numbers that a text lacks are counted up to here, as by the judge."""

MOST_LEANT = 2
"""Sentences that are handed on before one that leans on them."""

REACH = 6_000
"""Characters before a place in which its heading is looked for, about two pages."""

BEFORE = 600
"""Characters before a place in which the sentence before it is looked for."""

Count = Callable[[str], int]
"""Tokens of a text; of a text that is cut at white space as many as of its parts together."""

WORTH = 0.2
"""Share of the best piece's score that a piece needs. Of the answers in the chunks all 48 of papers, all 99 of SQuAD
and 96 of 97 of NQ then stay within 800 tokens, for 26, 22 and 49 % of the chunks; with 0.4 it is 47, 98 and 94 for
19, 12 and 34 % (questions that benchmarks/token_budget.py leaves out, those of papers aside)."""

LEAST = 0.005
"""Score that any piece needs. It loses no answer; 0.01 loses one in a hundred (NQ)."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Text:
    """What stretches are cut from: a document, or a passage that begins at `start` of a page."""

    text: str
    start: int = 0

    def cut(self, start: int, end: int) -> str:
        """The text between two offsets of the document."""
        return self.text[start - self.start : end - self.start]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch that is worth so much, with what it leans on; offsets in its document."""

    text_id: str
    start: int
    end: int
    score: float
    place: tuple[int, int]
    """Where in it the answer is likeliest: what is kept where there is no room for the piece."""
    heading: str = ""
    """What stands above it in the document, and is handed on with it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was chosen: one or several pieces that touch, the score that of the best one."""

    text_id: str
    start: int
    end: int
    score: float
    heading: str
    text: str
    tokens: int
    """Of heading and text."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sentence:
    """A sentence, a row of a table or a part of a long sentence; offsets in its document."""

    text_id: str
    start: int
    end: int
    piece: Evidence
    meant: float
    """How far the piece is about what is asked, 0 to 1."""
    table: bool = False


@dataclass(frozen=True, slots=True)
class ReadEvidence:
    """Evidence that was read for one question: any budget can be spent on it."""

    pieces: tuple[Piece, ...]
    texts: Mapping[str, Text]
    evidence: Mapping[str, Sequence[Evidence]]
    """For each text the pieces that are from it, in the order given."""
    documents: Mapping[str, Document]

    def within(self, most: int, count: Count) -> list[Excerpt]:
        """The excerpts that fit into `most` tokens, best first."""
        stretches = chosen(self.pieces, self.texts, most, count)
        return [self._excerpt(rank, stretch) for rank, stretch in enumerate(stretches, start=1)]

    def _excerpt(self, rank: int, stretch: Stretch) -> Excerpt:
        pieces, document = self.evidence[stretch.text_id], self.documents.get(stretch.text_id)
        piece = next((one for one in pieces if one.start < stretch.end and stretch.start < one.end), pieces[0])
        page = piece.page if document is None else document.page_at(stretch.start)
        evidence = Evidence(piece.hit, stretch.start, stretch.end, stretch.text, page)
        chunk, score = piece.hit.chunk, Score(stretch.score, UNIT)
        place = (stretch.heading, stretch.start, stretch.end, stretch.text, stretch.tokens)
        return Excerpt(rank, score, chunk.source, chunk.title, page, *place, evidence=evidence)


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """Reads the sentences of evidence for a question; `judge` says what answers, and where the answer stands."""

    judge: PairReader
    documents: Documents

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> ReadEvidence:
        """The pieces that are worth handing on; what gives orders to its reader is none."""
        documents = self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in evidence)))
        texts = {id_: Text(document.text) for id_, document in documents.items()}
        given: dict[str, list[Evidence]] = {}
        for piece in evidence:
            text_id = _text_id(piece, documents)
            texts.setdefault(text_id, Text(piece.text, piece.start))
            given.setdefault(text_id, []).append(piece)
        sentences = _sentences(query.question, evidence, documents)
        scored = self._scored(query.question, sentences, texts, documents)
        whole = tuple(_with_context(piece, texts[piece.text_id], documents) for piece in worth_it(scored))
        return ReadEvidence(whole, texts, given, documents)

    def _scored(
        self,
        question: str,
        sentences: Sequence[_Sentence],
        texts: Mapping[str, Text],
        documents: Mapping[str, Document],
    ) -> list[Piece]:
        """Each sentence with what it is worth, by the window in which that is most."""
        titles = [one.piece.hit.chunk.title for one in sentences]
        readable = [_to_read(one, texts[one.text_id], documents) for one in sentences]
        alone = self.judge.read(question, readable, titles) if sentences else []
        own = {one: reading.probability for one, reading in zip(sentences, alone, strict=True)}
        windows = _windows(sentences, texts)
        bodies = [texts[window[0].text_id].cut(window[0].start, max(one.end for one in window)) for window in windows]
        above = [_above(window[0], texts[window[0].text_id]) for window in windows]
        readings = self.judge.read(question, bodies, above) if windows else []
        best: dict[_Sentence, Piece] = {}
        for window, reading in zip(windows, readings, strict=True):
            for one in window:
                piece = _piece(one, window[0].start, reading, own[one])
                if one not in best or piece.score > best[one].score:
                    best[one] = piece
        return [best[one] for one in sentences]


def _piece(one: _Sentence, begin: int, reading: Reading, own: float) -> Piece:
    """A sentence of a window that begins at `begin`, with what the reading of both says it is worth."""
    start, end = begin + reading.start, begin + reading.end
    holds = one.start < end and start < one.end
    certain = reading.probability * reading.certainty if holds else 0.0
    worth = one.meant * reading.probability * (BASE + OF_EACH * (own + certain))
    return Piece(one.text_id, one.start, one.end, worth, (start, end) if holds else (one.start, one.start))


# --- cutting ----------------------------------------------------------------------------------------------------------


def _text_id(piece: Evidence, documents: Mapping[str, Document]) -> str:
    """The document, or, of a page of the web, the piece itself."""
    chunk = piece.hit.chunk
    return chunk.document_id if chunk.document_id in documents else f"{chunk.id}:{piece.start}"


def _sentences(question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document]) -> list[_Sentence]:
    """Each once, in the order of the documents; what orders the reader about and single words are left out."""
    found: dict[tuple[str, int, int], _Sentence] = {}
    for piece in evidence:
        text_id, table = _text_id(piece, documents), piece.hit.chunk.kind == "table"
        absent = len(missing_details(question, f"{piece.hit.chunk.title}\n{piece.text}"))
        meant = OF_A_LOOKALIKE ** min(MOST_LACKING, absent)
        for start, end in spans_of(piece.text, table=table):
            if is_command(piece.text[start:end]) or (table and _is_header(text_id, piece.start + start, documents)):
                continue
            for low, high in _short(piece.text, start, end):
                if word_count(piece.text[low:high]) >= LEAST_WORDS:
                    one = _Sentence(text_id, piece.start + low, piece.start + high, piece, meant, table)
                    found.setdefault((text_id, one.start, one.end), one)
    return sorted(found.values(), key=lambda one: (one.text_id, one.start, one.end))


def _short(text: str, start: int, end: int) -> list[Span]:
    words = [word.span() for word in _WORD.finditer(text, start, end)]
    return [(words[at][0], words[min(at + LONGEST, len(words)) - 1][1]) for at in range(0, len(words), LONGEST)]


def _windows(sentences: Sequence[_Sentence], texts: Mapping[str, Text]) -> list[list[_Sentence]]:
    """Sentences that follow each other, about ninety words at once; each window begins with the last one before it."""
    windows: list[list[_Sentence]] = []
    words = 0
    for one in sentences:
        text, last = texts[one.text_id], windows[-1][-1] if windows else None
        follows = last is not None and last.text_id == one.text_id and not text.cut(last.end, one.start).strip()
        if last is None or not follows or words >= WINDOW_WORDS:
            before = [last] if last is not None and follows and _words(last, text) <= WINDOW_WORDS // 2 else []
            windows.append(before)
            words = 0
        windows[-1].append(one)
        words += _words(one, text)
    return windows


def _words(one: _Sentence, text: Text) -> int:
    return len(text.cut(one.start, one.end).split())


# --- what stands around a sentence ------------------------------------------------------------------------------------


def _to_read(one: _Sentence, text: Text, documents: Mapping[str, Document]) -> str:
    """A sentence as it is read alone: a row of a table below the names of its columns."""
    header = _header(one.text_id, one.start, documents) if one.table else ""
    row = text.cut(one.start, one.end)
    return f"{header}\n{row}" if header else row


def _header(text_id: str, at: int, documents: Mapping[str, Document]) -> str:
    """The first row of the table that a place stands in; empty for that row itself and outside tables."""
    document = documents.get(text_id)
    table = _table(document, at)
    if document is None or table is None or at < table.rows[0][1]:
        return ""
    return document.text[slice(*table.rows[0])].strip()


def _is_header(text_id: str, at: int, documents: Mapping[str, Document]) -> bool:
    """Whether a place is in the first of several rows, which names the columns."""
    table = _table(documents.get(text_id), at)
    return table is not None and len(table.rows) > 1 and at < table.rows[0][1]


def _table(document: Document | None, at: int) -> Table | None:
    tables = () if document is None else document.tables
    return next((table for table in tables if table.start <= at < table.end and table.rows), None)


def _above(one: _Sentence, text: Text) -> str:
    lines = (one.piece.hit.chunk.title, _heading(text, one.start))
    return ". ".join(line for line in dict.fromkeys(lines) if line and not is_command(line))


def _heading(text: Text, at: int) -> str:
    before = text.cut(max(text.start, at - REACH), at)
    if at - REACH > text.start:
        before = before[before.find("\n\n") + 1 :]
    return heading_above(before, len(before))


def _with_context(piece: Piece, text: Text, documents: Mapping[str, Document]) -> Piece:
    """With the sentences it leans on, and what stands above them."""
    start = piece.start
    for _ in range(MOST_LEANT):
        if (before := _leant_on(text, start, piece.end)) == start:
            break
        start = before
    heading = _header(piece.text_id, start, documents) or _heading(text, start)
    document = documents.get(piece.text_id)
    titled = document is not None and heading == document.title.strip()
    figure = has_labels(heading) and "|" not in heading
    if titled or figure or "://" in heading or is_command(heading):
        heading = ""
    return replace(piece, start=start, heading=heading)


def _leant_on(text: Text, start: int, end: int) -> int:
    """Start of the sentence that one leans on ("It must be replaced...", an item below "The steps are:")."""
    low = max(text.start, start - BEFORE)
    before = text.cut(low, start)
    inked = before.rstrip()
    if not inked or "\n\n" in before[len(inked) :] or not (inked.endswith(":") or leans(text.cut(start, end))):
        return start
    first, last = sentence_spans(before)[-1]
    cut_off = first == 0 and low > text.start
    return start if cut_off or is_command(before[first:last]) else low + first


# --- within a budget --------------------------------------------------------------------------------------------------


def chosen(pieces: Sequence[Piece], texts: Mapping[str, Text], most: int, count: Count) -> list[Stretch]:
    """The stretches that fit into `most` tokens, best first; of a best piece that alone is too long, its place."""
    ranked = worth_it(pieces)
    counted = lru_cache(maxsize=None)(count)
    fitting: list[Stretch] = []
    for number in range(1, len(ranked) + 1):
        joined = _joined(ranked[:number], texts, counted)
        if sum(stretch.tokens for stretch in joined) <= most:
            fitting = joined
    if ranked and not fitting:
        fitting = _narrowed(ranked[0], texts, most, counted)
    return sorted(fitting, key=lambda stretch: -stretch.score)


def worth_it(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that answer at all, and whose score is not far below the best one's, best first."""
    ranked = sorted(pieces, key=lambda piece: -piece.score)
    return [piece for piece in ranked if piece.score >= max(LEAST, WORTH * ranked[0].score)]


def _joined(pieces: Sequence[Piece], texts: Mapping[str, Text], count: Count) -> list[Stretch]:
    """Pieces that overlap, or have nothing but white space between them, as one."""
    joined: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.text_id, piece.start, piece.end)):
        last = joined[-1] if joined and joined[-1].text_id == piece.text_id else None
        if last is not None and not texts[piece.text_id].cut(last.end, piece.start).strip():
            joined[-1] = replace(last, end=max(last.end, piece.end), score=max(last.score, piece.score))
        else:
            joined.append(piece)
    return [_stretch(piece, texts, count) for piece in joined]


def _stretch(piece: Piece, texts: Mapping[str, Text], count: Count) -> Stretch:
    text = texts[piece.text_id].cut(piece.start, piece.end)
    tokens = count(text) + (count(piece.heading) if piece.heading else 0)
    return Stretch(piece.text_id, piece.start, piece.end, piece.score, piece.heading, text, tokens)


def _narrowed(piece: Piece, texts: Mapping[str, Text], most: int, count: Count) -> list[Stretch]:
    """Of a piece as many words around its place as fit, without its heading; nothing where not one does."""
    text = texts[piece.text_id].cut(piece.start, piece.end)
    place = piece.place[0] - piece.start, piece.place[1] - piece.start
    fitting: list[Stretch] = []
    for start, end in _growing([word.span() for word in _WORD.finditer(text)], *place):
        tokens = count(text[start:end])
        if tokens > most:
            break
        begin = piece.start + start
        fitting = [Stretch(piece.text_id, begin, piece.start + end, piece.score, "", text[start:end], tokens)]
    return fitting


def _growing(words: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of whole words, each with the one before in it: a place to its end, then more on both sides."""
    first = last = next((at for at, (_, behind) in enumerate(words) if behind > start), len(words) - 1)
    if not words:
        return
    yield words[first][0], words[last][1]
    while last + 1 < len(words) and words[last + 1][0] < end:
        last += 1
        yield words[first][0], words[last][1]
    while first > 0 or last + 1 < len(words):
        if last + 1 < len(words):
            last += 1
            yield words[first][0], words[last][1]
        if first > 0:
            first -= 1
            yield words[first][0], words[last][1]


@dataclass(frozen=True, slots=True)
class BudgetedRefiner:
    """Cuts another refiner's evidence to `most` tokens: the best pieces that fit whole, then excerpts of the others.

    A sentence alone holds the answer and seldom what it is said of; who writes from it needs both.
    """

    refine: Refiner
    read: EvidenceReader
    most: int
    count: Count

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.refine)}, cut to {self.most} tokens"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """The evidence that fits; a hit of which none is left is dropped with that reason."""
        refined = self.refine(query, hits)
        tokens = [*accumulate(self.count(piece.text) for piece in refined.evidence)]
        fitting = bisect_right(tokens, self.most)
        if fitting == len(tokens):
            return refined
        used = tokens[fitting - 1] if fitting else 0
        excerpts = self.read(query, refined.evidence[fitting:]).within(self.most - used, self.count)
        cut = tuple(one.evidence for one in excerpts if one.evidence is not None)
        evidence = (*refined.evidence[:fitting], *cut)
        facts = {"max_tokens": self.most, "tokens": used + sum(one.tokens for one in excerpts)}
        return Refined(
            evidence,
            tuple(self._judged(judgement, evidence) for judgement in refined.judgements),
            find_conflicts(evidence) if refined.conflicts else (),
            refined.notes + Notes(facts=facts),
        )

    def _judged(self, judgement: Judgement, evidence: Sequence[Evidence]) -> Judgement:
        chunk = judgement.hit.chunk
        stays = any(
            one.hit.chunk.document_id == chunk.document_id and one.start < chunk.end and chunk.start < one.end
            for one in evidence
        )
        if stays or not judgement.keep:
            return judgement
        return replace(judgement, keep=False, reason=f"none of it is among the best {self.most} tokens")
