"""Questions with options, answered without a chat model: the likeliest option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.generation.commands import is_command
from thresher.generation.extractive import NO_EVIDENCE, abstention, cite
from thresher.generation.options import Choice, choice_of
from thresher.generation.support import Spans, sentence_around
from thresher.protocols import Generator, PairReader
from thresher.types import PROBABILITY, Draft, Evidence, Query, Reading, Score


@dataclass(frozen=True, slots=True)
class ChoosingReader:
    """Answers questions with options by the trained judge, and hands every other question on.

    A claim is handed on too: the head that tells support from denial is no better than the more frequent label
    (`benchmarks/reader.py labels`), and a wrong "True" is worse than a sentence to read.
    """

    reader: PairReader
    spans: Spans
    min_relevance: float
    """Probability that the best piece must have to be read at all, 0 to 1."""
    otherwise: Generator

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Draft:
        """The option with its letter, with a citation of the sentence that decided."""
        task = choice_of(query.question)
        if task is None:
            return self.otherwise(query, evidence)
        detail: dict[str, object] = {"reader": "choice"}
        stating = [piece for piece in evidence if not is_command(piece.text)]
        if not stating:
            return abstention(NO_EVIDENCE, detail)
        return self._chosen(task, stating, detail)

    def _chosen(self, task: Choice, evidence: Sequence[Evidence], detail: dict[str, object]) -> Draft:
        """The option whose question and text together are answered best by any piece; the first of equals."""
        best = [self._best(f"{task.stem} {text}", evidence) for _, text in task.options]
        at = max(range(len(best)), key=lambda number: (best[number][1].relevance, -number))
        letter, text = task.options[at]
        piece, reading = best[at]
        detail["options"] = {
            option: round(found.relevance, 3) for (option, _), (_, found) in zip(task.options, best, strict=True)
        }
        return self._draft(f"({letter}) {text}", piece, reading, detail)

    def _best(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, Reading]:
        titles = [piece.hit.chunk.title for piece in evidence]
        readings = self.reader.read(question, [piece.text for piece in evidence], titles)
        return max(zip(evidence, readings, strict=True), key=lambda pair: pair[1].relevance)

    def _draft(self, text: str, piece: Evidence, reading: Reading, detail: dict[str, object]) -> Draft:
        probability = reading.probability
        detail |= {"relevance": probability, "min_relevance": self.min_relevance}
        if probability < self.min_relevance:
            return abstention(
                f"The best passage speaks of it with a probability of {probability:.2f}, "
                f"and {self.min_relevance:.2f} is asked for.",
                detail,
            )
        score = Score(probability, PROBABILITY)
        sentence = sentence_around(piece, reading.start, reading.end, self.spans, score)
        return Draft(f"{text} [1]", (cite(1, sentence),), detail=detail)
