"""The second and third look at a chunk: the judge reflects on its own score, a critic gives one of its own.

ChunkRAG, Algorithm 1, lines 14 and 15. Its first version has a critic that judges independently, its second one that
sees the two scores before (Y10 in docs/methods.md); no critic prompt is published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from thresher.judging.calls import REPLY, Prompt, QueryText, contents, score_chunks, words_of
from thresher.judging.heuristics import Heuristic, temporal
from thresher.protocols import LanguageModel
from thresher.types import Hit, Query, Score, Scored

Earlier = Mapping[str, Sequence[Score | None]]
"""Scores given before, by the name of the stage (`base`, `reflection`), in the order of the hits."""

Stage = Callable[[Query, Sequence[Hit], Earlier], Scored]
"""A look at chunks that were scored before."""

REFLECTION = Prompt(
    f"""You gave each of several chunks of text a score from 0 to 1 for its relevance to a query; it stands beside the
chunk. Look at each again: does it hold what answers the query, or only words of it? Are the names, places and dates
those of the query? Keep the score where it was right and change it where it was not.
{REPLY}""",
    version=1,
    undone="not reflected on",
)

CRITIC = Prompt(
    f"""You are the critic of a judge: you score how relevant each of several chunks of text is to a query, from 0 to 1,
and you look for what a hasty judge misses: a chunk about another person, place or thing of the same name; a chunk that
repeats words of the query and does not answer it; a chunk of another time than the query asks for; a plain chunk that
does answer. Where earlier scores stand beside a chunk, they may be wrong: agree or disagree with them. Notes beside a
chunk come from a program that compares query and chunk: weigh them.
{REPLY}""",
    version=1,
    undone="not seen by the critic",
)


@dataclass(frozen=True, slots=True)
class Reflection:
    """The judge asked to reconsider its `base` scores; a chunk without one is left out."""

    model: LanguageModel
    batch: int = 20
    workers: int = 4
    query_text: QueryText = "search"

    def __call__(self, query: Query, hits: Sequence[Hit], earlier: Earlier) -> Scored:
        """One score per hit; None where there was none before, the reply could not be read or the model failed."""
        base = earlier["base"]
        chunks = {
            at: contents(hit, your_score=f"{score.value:.3g}")
            for at, (hit, score) in enumerate(zip(hits, base, strict=True))
            if score is not None
        }
        question = words_of(query, self.query_text)
        return score_chunks(
            self.model, REFLECTION, question, chunks, number=len(hits), batch=self.batch, workers=self.workers
        )


@dataclass(frozen=True, slots=True)
class Critic:
    """Another opinion, best of another model.

    `sees_scores=False` is the independent critic of ChunkRAG's first version.
    What the heuristics find stands beside the chunk as a note; the model weighs it.
    """

    model: LanguageModel
    batch: int = 20
    workers: int = 4
    sees_scores: bool = True
    heuristics: tuple[Heuristic, ...] = (temporal,)
    query_text: QueryText = "search"

    def __call__(self, query: Query, hits: Sequence[Hit], earlier: Earlier) -> Scored:
        """One score per hit; None where the reply could not be read or the model failed."""
        chunks = {at: contents(hit, **self._notes(query, hit, at, earlier)) for at, hit in enumerate(hits)}
        question = words_of(query, self.query_text)
        return score_chunks(
            self.model, CRITIC, question, chunks, number=len(hits), batch=self.batch, workers=self.workers
        )

    def _notes(self, query: Query, hit: Hit, at: int, earlier: Earlier) -> dict[str, str]:
        """What stands beside a chunk, by the name of its tag."""
        notes = {}
        if self.sees_scores:
            given = ((name, scores[at]) for name, scores in earlier.items())
            told = ", ".join(f"{name} {score.value:.3g}" for name, score in given if score is not None)
            if told:
                notes["earlier_scores"] = told
        findings = [finding for heuristic in self.heuristics if (finding := heuristic(query, hit)) is not None]
        if findings:
            notes["notes"] = "; ".join(f"{finding.name}: {finding.note}" for finding in findings)
        return notes
