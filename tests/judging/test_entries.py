"""A hit is judged by the entry under the identifier that a question names, and by no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thresher.judging.entries import EntryScorer
from thresher.types import COSINE, LOGIT, UNIT, Chunk, Document, Hit, Query, Score, Scores

TEXT = "§ 7 Rail. Second class.\n\n§ 12 Meals. 36 euros a day.\n\n§ 21 Cars. 32 cents.\n"


class ByWords:
    """0.4 for what speaks of euros, and the logit that the trained judge would give it."""

    name, scale = "trained", UNIT

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        texts = [hit.chunk.text for hit in hits]
        self.read += texts
        scores = tuple(Score(0.4 if "euros" in text else 0.1, UNIT) for text in texts)
        return Scores(
            scores, others=tuple({"answers": Score(2.0 if "euros" in text else -3.0, LOGIT)} for text in texts)
        )


def scored(
    question: str, spans: Sequence[tuple[int, int]], make_chunk: Callable[..., Chunk]
) -> tuple[list[float], list[str]]:
    scorer, document = ByWords(), Document("d", "d.md", "Policy", TEXT, "markdown")
    chunks = [make_chunk(text=TEXT[start:end], document="d", start=start) for start, end in spans]
    hits = [Hit(chunk, Score(1.0, COSINE), 1) for chunk in chunks]
    found = EntryScorer(scorer, lambda ids: {"d": document})(Query(question, question), hits)
    return [score.value for score in found.scores if score is not None], scorer.read


def test_the_entry_alone_is_read_and_counts_what_the_judge_says_of_it(make_chunk: Callable[..., Chunk]) -> None:
    (score,), read = scored("How much is paid under § 12?", [(0, len(TEXT))], make_chunk)
    assert [text.strip() for text in read] == ["§ 12 Meals. 36 euros a day."]
    assert score == 0.6


def test_neighbours_alone_count_nothing(make_chunk: Callable[..., Chunk]) -> None:
    assert scored("How much is paid under § 13?", [(0, len(TEXT))], make_chunk) == ([0.0], [])


def test_a_question_without_an_identifier_is_judged_as_it_is(make_chunk: Callable[..., Chunk]) -> None:
    assert scored("How much is paid for meals?", [(0, len(TEXT))], make_chunk) == ([0.4], [TEXT])
