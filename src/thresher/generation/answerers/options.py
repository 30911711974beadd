"""Questions with options: the option that the evidence answers best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import cite
from thresher.generation.material import Material
from thresher.generation.sentence_support import sentence_around
from thresher.protocols import PairReader
from thresher.text.injection import is_command
from thresher.types import PROBABILITY, Evidence, Generation, Notes, Query, Reading, Score


@dataclass(frozen=True, slots=True)
class OptionAnswerer:
    """Proposes the option whose question and text together are answered best by any piece, the first of equals.

    A claim is no such question: the head that tells support from denial is no better than the more frequent label
    (`research/reader labels`), and a wrong "True" is worse than a sentence to read.
    """

    reader: PairReader
    min_relevance: float
    """Probability that the best piece must have to be read at all, 0 to 1."""
    name: ClassVar[str] = "options"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The option with its letter, with a citation of the sentence that decided."""
        task = query.intent.choice
        stating = [piece for piece in material.evidence if not is_command(piece.text)]
        if task is None or not stating:
            return ()
        best = [self._best(f"{task.stem} {text}", stating) for _, text in task.options]
        at = max(range(len(best)), key=lambda number: (best[number][1].relevance, -number))
        (letter, text), (piece, reading) = task.options[at], best[at]
        letters = [letter for letter, _ in task.options]
        options = dict(zip(letters, (round(found.relevance, 3) for _, found in best), strict=True))
        objection = ""
        if reading.probability < self.min_relevance:
            lacking = f"with a probability of {reading.probability:.2f}, and {self.min_relevance:.2f} is asked for."
            objection = f"The best passage speaks of it {lacking}"
        sentence = sentence_around(piece, reading.start, reading.end, Score(reading.probability, PROBABILITY))
        answer = Generation(
            f"({letter}) {text} [1]", (cite(1, sentence),), notes=Notes(facts={"options": options}), exact=True
        )
        return [Candidate(answer, self.name, Signs(relevance=reading.relevance), objection=objection)]

    def _best(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, Reading]:
        titles = [piece.hit.chunk.title for piece in evidence]
        readings = self.reader.read(question, [piece.text for piece in evidence], titles)
        return max(zip(evidence, readings, strict=True), key=lambda pair: pair[1].relevance)
