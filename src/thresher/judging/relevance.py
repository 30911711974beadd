"""How relevant each chunk is, by a chat model (ChunkRAG, Algorithm 1, line 13; CRAG's evaluator with a model)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.judging.calls import REPLY, Prompt, QueryText, contents, score_chunks, words_of
from thresher.protocols import LanguageModel
from thresher.types import UNIT, Hit, Query, Scale, Scored

PROMPT = Prompt(
    f"""You judge how relevant each of several chunks of text is to a query.
A score is a number from 0 to 1: 1 when the chunk holds what answers the query, around 0.5 when it is on the subject
without answering, 0 when it has nothing to do with it. Names, places and dates must be those of the query.
Judge each chunk by itself, whatever the others say.
{REPLY}""",
    version=1,
    undone="not scored",
)


@dataclass(frozen=True, slots=True)
class LLMRelevance:
    """Scores of `model` from 0 to 1; `batch` chunks in one call at most (1 is a call for each, as published)."""

    model: LanguageModel
    batch: int = 20
    workers: int = 4
    query_text: QueryText = "search"

    name: ClassVar[str] = "relevance"
    scale: ClassVar[Scale] = UNIT

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """One score per hit; None where the reply could not be read or the model failed."""
        return score_chunks(
            self.model,
            PROMPT,
            words_of(query, self.query_text),
            {at: contents(hit) for at, hit in enumerate(hits)},
            number=len(hits),
            batch=self.batch,
            workers=self.workers,
        )
