"""Proposes what is shown around the best sentence of each piece of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.answering.passage import Passage, Proposal, Stretch, in_order, passage_of
from thresher.answering.sentences import Allowed, Marked, SentenceFinder
from thresher.answering.spans import LEAST_PROBABILITY, AnswerSpan, Row, Signs
from thresher.text.marks import void_spans
from thresher.types import log_odds

MOST_READ = 4
"""Passages, the first in the recipe's order, that are read sentence by sentence. Of 664 questions of four sets the
marked sentence is right for 241 with all eight, 241 with five, 240 with three."""

STRUCK = "The words that most probably answer are struck out."
"""Why an answer is in doubt."""


@dataclass(frozen=True, slots=True)
class Passages:
    """Each passage is as probable as an answer with its signs is right; none is likelier than one before it."""

    sentences: SentenceFinder
    answer: Row

    def __call__(
        self, question: str, places: Sequence[AnswerSpan], stretches: Sequence[Stretch], allowed: Allowed
    ) -> list[Proposal]:
        """The likeliest first; of sentences those count that are `allowed`."""
        whole: list[tuple[Passage, AnswerSpan]] = []
        for place in places:
            if len(whole) == MOST_READ:
                break
            piece = place.piece
            stretch = next(one for one in stretches if one.holds(place.document_id, piece.start, piece.end))
            if (passage := passage_of(stretch, piece, (place.start, place.end))) is not None:
                whole.append((passage, place))
        best = zip(whole, self.sentences(question, whole, allowed), strict=True)
        proposals: list[Proposal] = []
        for one in in_order(_around(*each, marked) for each, marked in best if marked is not None):
            most = proposals[-1].probability if proposals else 1.0
            proposals.append(replace(one, probability=min(self.answer.probability(one.signs or Signs()), most)))
        return proposals


def _around(whole: Passage, place: AnswerSpan, marked: Marked) -> Proposal:
    """What is shown of a passage around its best sentence; the likeliest words, where they stand in that sentence."""
    passage = whole.around(marked.span)
    shift = passage.start - whole.start
    start, end = marked.span[0] - shift, marked.span[1] - shift
    inside, stands = passage.start + start <= place.start and place.end <= passage.start + end, _stands(place)
    return Proposal(
        marked.probability,
        passage.quote,
        (passage.citation(1),),
        passage,
        (start, end),
        place if inside and stands else None,
        marked.signs,
        log_odds(marked.probability, LEAST_PROBABILITY),
        "" if stands else STRUCK,
    )


def _stands(place: AnswerSpan) -> bool:
    """Whether the words of a place are not struck and not an option that is not ticked."""
    sentence = place.sentence
    first, last = place.start - sentence.start, place.end - sentence.start
    return not any(start < last and first < end for start, end in void_spans(sentence.text))
