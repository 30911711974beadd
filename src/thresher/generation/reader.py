"""The reader that needs no chat model: it answers with the words that answer, and shows the sentence they stand in.

Every piece of evidence is read together with the question. Places that say the same in other pieces are counted
together (Karpukhin et al. 2020 take the best passage's best span alone; adding up what agrees was better on the
questions for choosing, research/reader).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thresher.generation.citations import quoted
from thresher.generation.sentence_support import Sentence, SupportJudge, sentence_around
from thresher.protocols import Generator, PairReader, about
from thresher.text.injection import is_command
from thresher.types import NO_NOTES, PROBABILITY, Citation, Evidence, Generation, Notes, Query, Reading, Score, Spans

NEAR_BEST = 0.05
"""A further sentence is quoted when its support is this near to the best one's."""

NO_EVIDENCE = "Nothing was retrieved for this question."


@dataclass(frozen=True, slots=True)
class ExtractiveReader:
    """Quotes at most `max_sentences`; abstains when the best support is below `min_support` (0..1).

    A sentence without a word that the question lacks (a heading, mostly) is near to it and answers nothing.
    """

    support: SupportJudge
    min_support: float
    max_sentences: int = 2

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return "sentences"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The quoted sentences with a citation each."""
        judged = self.support(query.question, evidence)
        asked = set(self.support.terms(query.question))
        sentences = [
            sentence
            for sentence in judged
            if _states(sentence.text, query.question) and not asked.issuperset(self.support.terms(sentence.text))
        ]
        best = sentences[0].support.value if sentences else 0.0
        notes = Notes(facts={"reader": "extractive", "support": best, "min_support": self.min_support})
        if not sentences:
            return abstention(NO_EVIDENCE, notes)
        if best < self.min_support:
            return abstention(
                f"The best-supported sentence reaches {best:.2f} of 1, and {self.min_support:.2f} is asked for.", notes
            )
        chosen = self._chosen(sentences)
        citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(chosen, start=1))
        text = " ".join(quoted(citation) for citation in citations)
        return Generation(text, citations, notes=notes)

    def _chosen(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The best sentence and others nearly as good, none saying what one before it says word for word."""
        near = [s for s in sentences if s.support.value >= sentences[0].support.value - NEAR_BEST]
        chosen: list[Sentence] = []
        for sentence in near:
            repeated = any(
                _one_line(sentence.text) == _one_line(other.text) or _overlap(sentence, other) for other in chosen
            )
            if not repeated:
                chosen.append(sentence)
        return chosen[: self.max_sentences]


def _states(text: str, question: str) -> bool:
    """Whether a sentence says anything: one that asks, repeats the question or gives orders to whoever reads it may be
    nearer to the question than any other, and is no answer.
    """
    asks = text.rstrip(" \"'”’)").endswith("?") or _one_line(question).lower() in _one_line(text).lower()
    return not asks and not is_command(text)


def abstention(reason: str, notes: Notes = NO_NOTES) -> Generation:
    """No answer, and why."""
    return Generation(
        text="The documents do not answer this question.", citations=(), abstained=True, reason=reason, notes=notes
    )


def cite(marker: int, sentence: Sentence) -> Citation:
    """The place of a sentence in its document."""
    chunk = sentence.evidence.hit.chunk
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        page=sentence.evidence.page,
        start=sentence.start,
        end=sentence.end,
        quote=sentence.text,
        score=sentence.support,
        origin=sentence.evidence.hit.origin,
        fetched=sentence.evidence.hit.fetched,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _overlap(one: Sentence, other: Sentence) -> bool:
    same = one.evidence.hit.chunk.document_id == other.evidence.hit.chunk.document_id
    return same and one.start < other.end and other.start < one.end


# --- the reader that needs no chat model: it answers with the words that answer, and shows the sentence they ----------


WINDOW_WORDS = 90
"""Longer pieces are read by whole sentences of about so many words together. SQuAD's tuning questions: F1 0.52 by three
sentences and 0.45 by paragraphs; PopQA's long tail: 0.54 by 90 words and 0.52 by three sentences."""

GAP = 1_000
"""Characters between two sentences that are read together; what lies between them was dropped."""

EDGES = " \t\n.,;:!?\"'“”‘’()[]"
"""Around an answer; inside one they belong to it."""

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in a piece of evidence; offsets are in the piece."""

    piece: Evidence
    start: int
    end: int
    relevance: float
    """Probability that the piece answers the question."""
    certainty: float
    """Of this place among all places of the piece."""

    @property
    def text(self) -> str:
        """The answer, on one line."""
        return " ".join(self.piece.text[self.start : self.end].split())

    @property
    def worth(self) -> float:
        """Both together."""
        return self.relevance * self.certainty


@dataclass(slots=True)
class Window:
    """What is read at once: sentences of a document as far apart as they stand there, so that offsets agree."""

    start: int
    """Of the text, in the document."""
    text: str = ""
    parts: list[tuple[int, Evidence]] = field(default_factory=list)
    """Where each sentence begins in the text, and the piece it is from."""

    @property
    def title(self) -> str:
        """Of the document."""
        return self.parts[0][1].hit.chunk.title

    def add(self, piece: Evidence, begin: int, sentence: str) -> None:
        """A sentence that begins at that place of the document."""
        at = begin - self.start
        self.text = self.text.ljust(at) + sentence
        self.parts.append((at, piece))

    def place(self, reading: Reading) -> Place:
        """The place that was read, in the piece it begins in, without marks that are no part of an answer."""
        text = self.text[reading.start : reading.end]
        start = reading.start + len(text) - len(text.lstrip(EDGES))
        piece = next(piece for at, piece in reversed(self.parts) if at <= start)
        first = self.start + start - piece.start
        last = self.start + reading.end - (len(text) - len(text.rstrip(EDGES))) - piece.start
        last = max(first, min(last, len(piece.text)))
        return Place(piece, first, last, reading.probability, reading.certainty)


@dataclass(frozen=True, slots=True)
class SpanReader:
    """Answers with the best place of the evidence; abstains when nothing answers the question.

    Where the best place is uncertain, which is what questions look like whose answer is no name, number or phrase, the
    answer is what `quote` makes of the pieces that answer.
    """

    reader: PairReader
    spans: Spans
    min_relevance: float
    """Probability that the best piece must have."""
    min_certainty: float
    """Of the best place, below which sentences are quoted instead."""
    quote: Generator

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return "spans"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The answer with a citation of the sentence it stands in."""
        notes = Notes(facts={"reader": "spans", "model": self.reader.name})
        places = self._places(query.question, evidence)
        if not places:
            return abstention(NO_EVIDENCE, notes)
        best = max(place.relevance for place in places)
        notes += Notes(facts={"relevance": best, "min_relevance": self.min_relevance})
        if best < self.min_relevance:
            return abstention(
                f"The best passage answers the question with a probability of {best:.2f}, "
                f"and {self.min_relevance:.2f} is asked for.",
                notes,
            )
        chosen = self._chosen(query.question, places)
        if chosen is None or chosen.certainty < self.min_certainty:
            answering = [place.piece for place in places if place.relevance >= self.min_relevance]
            quoted = self.quote(query, answering)
            return replace(quoted, notes=notes + quoted.notes)
        score = Score(chosen.relevance, PROBABILITY)
        sentence = sentence_around(chosen.piece, chosen.start, chosen.end, self.spans, score)
        return Generation(
            f"{chosen.text} [1]", (cite(1, sentence),), notes=notes + Notes(facts={"certainty": chosen.certainty})
        )

    def _places(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        windows = self._windows(evidence)
        titles = [window.title for window in windows]
        readings = self.reader.read(
            question,
            [window.text for window in windows],
            ["" if is_command(title) else title for title in titles],
        )
        return [window.place(reading) for window, reading in zip(windows, readings, strict=True)]

    def _windows(self, evidence: Sequence[Evidence]) -> list[Window]:
        """Sentences that follow each other in a document, whichever pieces they are from, so many words at once.

        "It must be replaced after 4,000 hours" says what only with the sentence before it. What orders the reader
        about is left out.
        """
        windows: list[Window] = []
        words, last, behind = 0, "", -1
        for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
            for start, end in self.spans(piece.text):
                sentence = piece.text[start:end]
                begin, document = piece.start + start, piece.hit.chunk.document_id
                if is_command(sentence):
                    continue
                follows = document == last and 0 <= begin - behind <= GAP and words < WINDOW_WORDS
                if not follows:
                    windows.append(Window(begin))
                    words = 0
                windows[-1].add(piece, begin, sentence)
                words += len(sentence.split())
                last, behind = document, piece.start + end
        return windows

    def _chosen(self, question: str, places: Sequence[Place]) -> Place | None:
        """The best place of the answer that the pieces agree on most; None where nothing but the question is said."""
        asked = set(_words(question))
        sums: dict[str, float] = {}
        for place in places:
            if not asked.issuperset(_words(place.text)):
                key = " ".join(_words(place.text))
                sums[key] = sums.get(key, 0.0) + place.worth
        if not sums:
            return None
        answer = max(sums, key=lambda key: sums[key])
        return max((place for place in places if " ".join(_words(place.text)) == answer), key=lambda one: one.worth)


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


# --- A question that brings its options: "(A) ... (B) ...", "A. ... B. ..." or "A: ...", as multiple-choice s----------


_OPTION = re.compile(r"(?:^|[\s;,])\(?([A-H])[).:](?=\s)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with options, as they were lettered."""

    stem: str
    options: tuple[tuple[str, str], ...]
    """Letter and text, at least two."""


def choice_of(question: str) -> Choice | None:
    """The options of a question: letters that follow each other from A on, each with a text behind it."""
    found: list[re.Match[str]] = []
    for match in _OPTION.finditer(question):
        if match[1] == "ABCDEFGH"[len(found)]:
            found.append(match)
        if len(found) == len("ABCDEFGH"):
            break
    if len(found) < 2:
        return None
    ends = [*(match.start() for match in found[1:]), len(question)]
    options = tuple(
        (match[1], question[match.end() : end].strip(" ;,\n")) for match, end in zip(found, ends, strict=True)
    )
    stem = question[: found[0].start()].strip()
    return Choice(stem, options) if stem and all(text for _, text in options) else None


# --- questions with options, answered without a chat model: the likeliest option --------------------------------------


@dataclass(frozen=True, slots=True)
class ChoosingReader:
    """Answers questions with options by the trained judge, and hands every other question on.

    A claim is handed on too: the head that tells support from denial is no better than the more frequent label
    (`research/reader labels`), and a wrong "True" is worse than a sentence to read.
    """

    reader: PairReader
    spans: Spans
    min_relevance: float
    """Probability that the best piece must have to be read at all, 0 to 1."""
    otherwise: Generator

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.otherwise)

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The option with its letter, with a citation of the sentence that decided."""
        task = choice_of(query.question)
        if task is None:
            return self.otherwise(query, evidence)
        notes = Notes(facts={"reader": "choice"})
        stating = [piece for piece in evidence if not is_command(piece.text)]
        if not stating:
            return abstention(NO_EVIDENCE, notes)
        return self._chosen(task, stating, notes)

    def _chosen(self, task: Choice, evidence: Sequence[Evidence], notes: Notes) -> Generation:
        """The option whose question and text together are answered best by any piece; the first of equals."""
        best = [self._best(f"{task.stem} {text}", evidence) for _, text in task.options]
        at = max(range(len(best)), key=lambda number: (best[number][1].relevance, -number))
        letter, text = task.options[at]
        piece, reading = best[at]
        options = {
            option: round(found.relevance, 3) for (option, _), (_, found) in zip(task.options, best, strict=True)
        }
        return self._draft(f"({letter}) {text}", piece, reading, notes + Notes(facts={"options": options}))

    def _best(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, Reading]:
        titles = [piece.hit.chunk.title for piece in evidence]
        readings = self.reader.read(question, [piece.text for piece in evidence], titles)
        return max(zip(evidence, readings, strict=True), key=lambda pair: pair[1].relevance)

    def _draft(self, text: str, piece: Evidence, reading: Reading, notes: Notes) -> Generation:
        probability = reading.probability
        notes += Notes(facts={"relevance": probability, "min_relevance": self.min_relevance})
        if probability < self.min_relevance:
            return abstention(
                f"The best passage speaks of it with a probability of {probability:.2f}, "
                f"and {self.min_relevance:.2f} is asked for.",
                notes,
            )
        score = Score(probability, PROBABILITY)
        sentence = sentence_around(piece, reading.start, reading.end, self.spans, score)
        return Generation(f"{text} [1]", (cite(1, sentence),), notes=notes)
