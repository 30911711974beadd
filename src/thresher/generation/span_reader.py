"""The reader that answers with the words that answer, shows the sentence they stand in, and knows how sure it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import ClassVar

from thresher.generation.certainty import Signs, Sureness, Weights, signs_of
from thresher.generation.citations import NO_EVIDENCE, abstention, cite, quoted
from thresher.generation.sentence_support import Sentence, sentence_around
from thresher.protocols import Generator, PairReader
from thresher.text.agreement import disagreement, unnamed
from thresher.text.answer_types import answer_type, asks_for_figure, is_of_type
from thresher.text.boilerplate import is_item_number, is_place_number, says_nothing
from thresher.text.contradiction import ARTICLES
from thresher.text.entities import are_names, names_in
from thresher.text.injection import is_command
from thresher.text.labels import means
from thresher.text.numbers import SCALES, UNITS
from thresher.text.questions import Kind, asked_for
from thresher.text.rivals import Said
from thresher.text.sentences import sentence_spans
from thresher.text.table_lookup import telling_terms, terms_of
from thresher.text.terms import index_terms
from thresher.types import PROBABILITY, Citation, Evidence, Generation, Notes, Query, Reading, Score

WINDOW_WORDS = 90
"""Longer pieces are read by whole sentences of about so many words together. SQuAD's tuning questions: F1 0.52 by three
sentences and 0.45 by paragraphs; PopQA's long tail: 0.54 by 90 words and 0.52 by three sentences."""

GAP = 1_000
"""Characters between two sentences that are read together; what lies between them was dropped."""

HEADING_CHARACTERS = 80
"""A line of its own that is longer is no heading."""

EDGES = " \t\n.,;:!?\"'“”‘’()[]"
"""Around an answer; inside one they belong to it."""

WORD = re.compile(r"\w+")
HOW_MANY = re.compile(r"\bhow (?:many|much)\b(?: (?P<unit>[a-z]+))?", re.IGNORECASE)
_UNBROKEN = re.compile(
    r"(?<!\w)(?!(?:The|An?|In|On|At|For|By|From|With|Our|We|It|This|That|As|To|And|But|When|If)\b)"
    r"[A-Z][a-zà-ÿ'’-]+(?: (?:(?:de|van|von|der|la) )?[A-Z][a-zà-ÿ'’-]+){1,3}(?!\w)"
    r"|\d[\d.,]*\d|[^\W_]+"
)
"""What an answer holds whole or not at all."""

RIVAL_CERTAINTY, RIVAL_SHARE = 0.3, 0.4
"""Least certainty of an answer that is shown as contradicting another one, and least share of that one's. Chosen on the
half of the facts and questions of benchmarks/planted_conflicts.py that is for choosing."""

LONGEST_NAME = 40
"""Characters on either side in which the rest of a number or a name is looked for."""

_WHICH_OF = re.compile(
    r"(?:(?:in|at|of|from|on) )?(?:which|what) (?P<sort>[a-z]+) "
    r"(?:is|are|was|were|has|have|had|does|do|did|can|will|must|\w+(?:ed|[^s]s))\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![\w.,])\d[\d.,]*")
_BEHIND_NUMBER = re.compile(r"[ \u00a0]?(%|°[CF]?|[^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in a piece of evidence; offsets are in the piece."""

    piece: Evidence
    start: int
    end: int
    signs: Signs
    certainty: float
    """Probability that it answers the question."""
    known: str = ""
    """The text that was read with it, and what stands above that."""

    @property
    def text(self) -> str:
        """The answer, on one line."""
        return " ".join(self.piece.text[self.start : self.end].split())

    @property
    def sentence(self) -> Sentence:
        """The sentence that it stands in."""
        return sentence_around(self.piece, self.start, self.end, Score(self.certainty, PROBABILITY))

    @property
    def said(self) -> Said:
        """The answer in its sentence, to be held against another one."""
        sentence, title = self.sentence, self.piece.hit.chunk.title
        start = self.piece.start + self.start - sentence.start
        return Said(sentence.text, start, start + self.end - self.start, title, self.known)

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.piece.hit.chunk.document_id

    @property
    def at(self) -> tuple[str, int]:
        """The place in its document: windows overlap, and a place counts once."""
        return self.document, self.piece.start + self.start


@dataclass(slots=True)
class Window:
    """What is read at once: sentences of a document as far apart as they stand there, so that offsets agree."""

    start: int
    """Of the text, in the document."""
    text: str = ""
    heading: str = ""
    parts: list[tuple[int, Evidence]] = field(default_factory=list)
    """Where each sentence begins in the text, and the piece it is from."""

    @property
    def above(self) -> str:
        """What stands above it: the title of its document and the heading of its section."""
        lines = [self.parts[0][1].hit.chunk.title, self.heading]
        return ". ".join(line for line in dict.fromkeys(lines) if line and not is_command(line))

    def add(self, piece: Evidence, begin: int, sentence: str) -> None:
        """A sentence that begins at that place of the document."""
        at = begin - self.start
        gap = at - len(self.text)
        self.text += (" " if gap == 1 else "\n" * gap) + sentence
        self.parts.append((at, piece))

    def answer(self, reading: Reading) -> tuple[int, int]:
        """Where the answer stands in the text: no marks around it, numbers and names whole, a number with its unit."""
        text = self.text[reading.start : reading.end]
        start = reading.start + len(text) - len(text.lstrip(EDGES))
        end = max(start, reading.end - (len(text) - len(text.rstrip(EDGES))))
        start, end = _whole(self.text, start, end)
        return start, _with_unit(self.text, start, end)

    def piece_at(self, start: int, end: int) -> tuple[Evidence, int, int]:
        """The piece that a place of the text begins in, and where in it the place stands."""
        piece = next(piece for at, piece in reversed(self.parts) if at <= start)
        first, last = self.start + start - piece.start, self.start + end - piece.start
        return piece, first, max(first, min(last, len(piece.text)))


@dataclass(frozen=True, slots=True)
class SpanReader:
    """Answers with the best place of the evidence; abstains when none is likely to answer the question.

    The evidence is read window by window together with the question, the best pieces first. Places that say the same
    are counted together (Karpukhin et al. 2020 take the best passage's best span alone; adding up what agrees was
    better on the questions for choosing, research/reader). Where the best place is one of many, which is what questions
    look like whose answer is no name, number or phrase, the answer is what `quote` makes of the pieces that answer.
    """

    reader: PairReader
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question."""
    weights: Weights
    quote: Generator
    min_certainty: float
    """Of the best place among those of its text, below which sentences are quoted instead."""
    sure: Sureness
    max_windows: int
    rivals: Callable[[str, Said, Said], bool] | None = None
    """Whether two answers to a question cannot both be right; None shows the likelier one alone."""
    about: ClassVar[str] = "spans"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The answer with a citation of the sentence it stands in."""
        notes = Notes(facts={"reader": "spans", "model": self.reader.name})
        evidence, name = _naming(query.question, evidence)
        places = self.places(query.question, evidence)
        if not places:
            return abstention(f"No document that was found names {name}." if name else NO_EVIDENCE, notes)
        places, differing = _agreeing(query.question, places)
        if not places:
            return abstention(f"What is nearest to the question is {differing}.", notes)
        answers = self.answers(query.question, places)
        best = answers[0] if answers else max(places, key=lambda place: place.certainty)
        notes += Notes(facts={"certainty": best.certainty, "answers": _told(answers)})
        if low := self.sure.withheld(best.certainty):
            title, nearest = best.piece.hit.chunk.title, " ".join(best.sentence.text.split())
            return abstention(f"The likeliest answer is {low}. The nearest passage ({title}): “{nearest}”", notes)
        if not answers or exp(best.signs.place) < self.min_certainty:
            likely = [place.piece for place in places if not self.sure.withheld(place.certainty)]
            draft = self.quote(query, [piece for at, piece in enumerate(likely) if piece not in likely[:at]])
            wrong = [_beside_the_point(query.question, citation) for citation in draft.citations]
            if wrong and all(wrong) and not _beside_the_point(query.question, own := cite(1, best.sentence)):
                draft, wrong = replace(draft, text=quoted(own), citations=(own,)), [""]
            if wrong and all(wrong):
                return abstention(f"The nearest sentence says {wrong[0]}.", notes)
            if any(wrong):
                kept = [citation for citation, missing in zip(draft.citations, wrong, strict=True) if not missing]
                kept = [replace(citation, marker=at) for at, citation in enumerate(kept, start=1)]
                draft = replace(draft, text=" ".join(map(quoted, kept)), citations=tuple(kept))
            draft = replace(draft, text=_documents_meant(query.question, draft.citations) or draft.text)
            return self.sure.marked(replace(draft, notes=notes + draft.notes), best.certainty)
        if meant := _document_meant(query.question, best):
            return self.sure.marked(_spoken(meant, best, notes), best.certainty)
        if rival := self.rival(query.question, best, places):
            return self.sure.marked(_both(best, rival, notes), _either(best.certainty, rival.certainty))
        return self.sure.marked(_spoken(best.text, best, notes), best.certainty)

    def rival(self, question: str, best: Place, places: Sequence[Place]) -> Place | None:
        """The likeliest answer of another document that cannot be right where the best one is."""
        if self.rivals is None:
            return None
        least = max(RIVAL_CERTAINTY, RIVAL_SHARE * best.certainty)
        likeliest: dict[str, Place] = {}
        for place in sorted(places, key=lambda place: -place.certainty):
            likeliest.setdefault(place.document, place)
        for place in likeliest.values():
            apart = place.certainty >= least and place.document != best.document
            if apart and self.rivals(question, best.said, place.said):
                return place
        return None

    def places(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        """The best place of every window that is read, each once.

        Where that is in a heading, or in a sentence of another time or thing, the window is read without it too.
        """
        windows = windows_of(evidence)[: self.max_windows]
        read = self._read(question, windows)
        again = [
            replace(window, text=_without(window.text, window.answer(reading)))
            for window, reading, place in read
            if says_nothing(place.sentence.text) or _differing(question, place)
        ]
        places: dict[tuple[str, int], Place] = {}
        for _, _, place in [*read, *(self._read(question, again) if again else ())]:
            known = places.get(place.at)
            if known is None or known.certainty < place.certainty:
                places[place.at] = place
        return list(places.values())

    def _read(self, question: str, windows: Sequence[Window]) -> list[tuple[Window, Reading, Place]]:
        """What is read in each window, and the place of the answer."""
        above = [window.above for window in windows]
        readings = self.reader.read(question, [window.text for window in windows], above)
        rarity = self.rarity(question)
        read = []
        for window, title, reading in zip(windows, above, readings, strict=True):
            start, end = _counted(question, window.text, *window.answer(reading))
            signs = signs_of(question, window.text, title, (start, end), reading, rarity)
            known = f"{title}. {window.text}"
            place = Place(*window.piece_at(start, end), signs, self.weights.probability(signs), known)
            read.append((window, reading, place))
        return read

    def answers(self, question: str, places: Sequence[Place]) -> list[Place]:
        """The best place of each answer, what the places agree on most first.

        The question's own words are none, nor what holds no number where one is asked for, one of another unit, or that
        of a heading or a table, nor names where it is asked who somebody is.
        """
        is_described = asked_for(question).kind is Kind.EXPLANATION and answer_type(question) == "person"
        asked, counts = set(_words(question)) | ARTICLES, HOW_MANY.search(question)
        wanted = _units(counts["unit"] or "") if counts else set()
        figure = asks_for_figure(question)
        answers: dict[str, list[Place]] = {}
        for place in places:
            number_is_missing = (counts or figure) and is_of_type(place.text, "number") is False
            another_unit = wanted and (units := _units(place.text)) and not wanted & units
            numbers_a_place = (counts or figure) and is_place_number(place.piece.text, place.start, place.end)
            numbers_an_item = is_item_number(place.piece.text, place.start, place.end)
            wrong = number_is_missing or another_unit or numbers_a_place or numbers_an_item
            wrong = wrong or (is_described and are_names(place.text))
            if not wrong and not asked.issuperset(words := _words(place.text)):
                answers.setdefault(" ".join(words), []).append(place)
        agreed = sorted(answers.values(), key=lambda same: -sum(place.certainty for place in same))
        return [max(same, key=lambda place: place.certainty) for same in agreed]


def _spoken(text: str, place: Place, notes: Notes) -> Generation:
    """An answer with a citation of the sentence it stands in."""
    return Generation(f"{text} [1]", (cite(1, place.sentence),), notes=notes, exact=True)


def _both(best: Place, rival: Place, notes: Notes) -> Generation:
    """Two answers of which at most one is right: nothing says which document is."""
    text = f"{best.text} [1]; another document says {rival.text} [2]"
    citations = (cite(1, best.sentence), cite(2, rival.sentence))
    notes += Notes(facts={"rival": {"text": rival.text, "certainty": round(rival.certainty, 3)}})
    return Generation(text, citations, conflicts=((1, 2),), notes=notes, exact=True)


def _either(certainty: float, rival: float) -> float:
    """The probability of an answer where it and its rival are not both right: theirs was told one by one."""
    not_both = 1 - certainty * rival
    return certainty * (1 - rival) / not_both if not_both else 0.5


def _naming(question: str, evidence: Sequence[Evidence]) -> tuple[Sequence[Evidence], str]:
    """The pieces of documents that name every code and number of the question, and what the others do not name."""
    known: dict[str, str] = {}
    for piece in evidence:
        document = piece.hit.chunk.document_id
        known[document] = f"{known.get(document, piece.hit.chunk.title)}\n{piece.text}"
    lacking = {document: name for document, text in known.items() if (name := unnamed(question, text))}
    left = [piece for piece in evidence if piece.hit.chunk.document_id not in lacking]
    return left, "" if left else next(iter(lacking.values()), "")


def _agreeing(question: str, places: Sequence[Place]) -> tuple[list[Place], str]:
    """The places whose sentence says no other condition than the question, and what the best of the others says."""
    said = [_differing(question, place) for place in places]
    others = [(place.certainty, what) for place, what in zip(places, said, strict=True) if what]
    agreeing = [place for place, what in zip(places, said, strict=True) if not what]
    return agreeing, max(others)[1] if others else ""


def _differing(question: str, place: Place) -> str:
    """What the sentence of a place says that is another than is asked for; "" for nothing."""
    return disagreement(question, place.sentence.text, place.text, place.piece.hit.chunk.title)


def _without(text: str, place: tuple[int, int]) -> str:
    """A text with the sentence of a place left blank, so that offsets stay."""
    start, end = place
    for low, high in sentence_spans(text):
        if low < max(end, start + 1) and high > start:
            text = text[:low] + " " * (high - low) + text[high:]
    return text


def _document_meant(question: str, place: Place) -> str:
    """The title of a document where one of its sort is asked for and the place names none; "" elsewhere.

    "Which branch had its cash machine blown up?": a branch report says by whom, and its title says which branch.
    """
    title = place.piece.hit.chunk.title
    coded = any(mark.isdigit() for mark in place.text) and not is_of_type(place.text, "number")
    named = names_in(f"by {place.text}") or coded
    return title if not named and _is_asked_for(question, title) else ""


def _documents_meant(question: str, citations: Sequence[Citation]) -> str:
    """The titles of quoted documents where one of their sort is asked for; "" elsewhere.

    "Which suppliers are in Farrow?": "The works are in Farrow" stands in the records of two.
    """
    markers: dict[str, str] = {}
    for citation in citations:
        if _is_asked_for(question, citation.title):
            markers[citation.title] = f"{markers.get(citation.title, '')} [{citation.marker}]"
    return "; ".join(title + marked for title, marked in markers.items())


def _is_asked_for(question: str, title: str) -> bool:
    """Whether a question asks which document of a sort, and a title is of that sort."""
    asked = _WHICH_OF.match(question)
    return asked is not None and bool(set(index_terms(asked["sort"])) & set(index_terms(title)))


def _beside_the_point(question: str, citation: Citation) -> str:
    """What a quoted sentence says instead: another condition, or of what is asked the title alone; "" for nothing."""
    asked = set(telling_terms(question)) - set(terms_of(citation.title))
    if asked and not any(means(term, terms_of(citation.quote)) for term in asked):
        return "nothing of what is asked"
    return disagreement(question, citation.quote, "\n", citation.title)


def windows_of(evidence: Sequence[Evidence]) -> list[Window]:
    """Sentences that follow each other in a document, whichever pieces they are from, so many words at once.

    "It must be replaced after 4,000 hours" says what only with the sentence before it: a window begins with the last
    sentence of the one before. What orders the reader about is left out. Documents in the order of their best piece.
    """
    first: dict[str, int] = {}
    for at, piece in enumerate(evidence):
        first.setdefault(piece.hit.chunk.id, at)
    ranked: list[tuple[int, Window]] = []
    words, last, behind, before = 0, "", -1, None
    for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
        for start, end in sentence_spans(piece.text):
            sentence = piece.text[start:end]
            begin, document = piece.start + start, piece.hit.chunk.document_id
            if is_command(sentence):
                continue
            near = document == last and 0 <= begin - behind <= GAP
            if not near or words >= WINDOW_WORDS:
                window = Window(begin, heading=_heading(piece.text, start))
                ranked.append((first[piece.hit.chunk.id], window))
                words = 0
                if near and before is not None and len(before[2].split()) <= WINDOW_WORDS // 2:
                    window.start = before[1]
                    window.add(*before)
            ranked[-1][1].add(piece, begin, sentence)
            words += len(sentence.split())
            last, behind, before = document, piece.start + end, (piece, begin, sentence)
    return [window for _, window in sorted(ranked, key=lambda one: one[0])]


def _heading(text: str, at: int) -> str:
    """The last line before a place of a text that looks like a heading."""
    for line in reversed(text[:at].splitlines()):
        bare = line.strip(" #*_")
        if bare and len(bare) <= HEADING_CHARACTERS and bare[-1] not in ".,;:!?|" and bare[0].isalnum():
            return bare
    return ""


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A place that ends within a number, a word or a name, to its end: 0.1 for 0, Mirela Stanciu for Stanciu."""
    for unit in _UNBROKEN.finditer(text, max(0, start - LONGEST_NAME), min(len(text), end + LONGEST_NAME)):
        touches = unit.start() < end and start < unit.end()
        name = unit[0][0].isupper() and " " in unit[0]
        if touches and (not name or (unit.start() <= start and end <= unit.end())):
            start, end = min(start, unit.start()), max(end, unit.end())
    return start, end


def _counted(question: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Of several numbers the last, where what is counted follows: 3,215 of "8 employees and serves 3,215"."""
    counts = HOW_MANY.search(question)
    unit = counts and counts["unit"]
    if not unit or not re.match(rf"\s*{re.escape(unit.removesuffix('s'))}", text[end:], re.IGNORECASE):
        return start, end
    numbers = [number.start() for number in _DIGITS.finditer(text, start, end)]
    return (numbers[-1], end) if len(numbers) > 1 else (start, end)


def _with_unit(text: str, start: int, end: int) -> int:
    """The end of a place with the scale and the unit behind its number: 17.9 million euros."""
    if not text[start:end] or not text[end - 1].isdigit():
        return end
    while (word := _BEHIND_NUMBER.match(text, end)) and any(
        form in UNITS or form in SCALES for form in (word[1].lower(), word[1].lower().removesuffix("s"))
    ):
        end = word.end()
    return end


def _units(text: str) -> set[str]:
    """The units that a text names."""
    forms = (form for word in _words(text) for form in (word, word.removesuffix("s")))
    return {UNITS[form] for form in forms if form in UNITS}


def _told(answers: Sequence[Place]) -> list[dict[str, object]]:
    """The likeliest answers with what speaks for them, for the trace."""
    return [
        {"text": place.text, "certainty": round(place.certainty, 3), **place.signs.to_dict()} for place in answers[:5]
    ]


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())
