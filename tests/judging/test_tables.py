from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.generation.test_tables import documents, piece
from thresher.judging.tables import TableScorer
from thresher.types import UNIT, Hit, Query, Scale, Score, Scores


@dataclass
class Remembering:
    """Gives every hit the same score and remembers what it read."""

    name: str = "remembering"
    scale: Scale = UNIT
    read: list[str] = field(default_factory=list)

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        self.read += [hit.chunk.text for hit in hits]
        return Scores(tuple(Score(0.5, UNIT) for _ in hits))


def read(question: str, *texts: str) -> list[str]:
    scorer = Remembering()
    scored = TableScorer(scorer, documents)(Query(question, question), [piece(text).hit for text in texts])
    assert len(scored.scores) == len(texts)
    return scorer.read


def test_a_piece_of_a_table_is_read_with_its_caption_and_column_names() -> None:
    assert read("What was revenue in Q3?", "| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |") == [
        "Results by quarter. All amounts in million euros. "
        "Quarter: Q3; Revenue: 17.9; Costs: 12.1. Quarter: Q2; Revenue: 15.8; Costs: 11.9."
    ]


def test_running_text_is_read_as_it_is() -> None:
    assert read("When did the board meet?", "The board met in March.") == ["The board met in March."]


def test_a_table_of_a_document_that_is_gone_is_read_as_it_stands() -> None:
    def gone(ids: Sequence[str]) -> Mapping[str, object]:
        return {}

    scorer = Remembering()
    TableScorer(scorer, gone)(Query("q", "q"), [piece("| Q3 | 17.9 | 12.1 |").hit])  # type: ignore[arg-type]
    assert scorer.read == ["| Q3 | 17.9 | 12.1 |"]
