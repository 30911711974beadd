from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.answering.tables import documents, piece
from tests.judging.scoring import scores
from thresher.judging.windows import TableScorer
from thresher.types import NO_NOTES, UNIT, Hit, Notes, Query, Scale, Score, Scores

QUARTERS = "| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |"


@dataclass
class Remembering:
    """Gives hits the scores of a function of their texts and remembers what it read."""

    score: Callable[[str], float | None] = lambda text: 0.5
    name: str = "remembering"
    scale: Scale = UNIT
    read: list[str] = field(default_factory=list)

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        self.read += [hit.chunk.text for hit in hits]
        given = scores(*(self.score(hit.chunk.text) for hit in hits))
        failed = tuple(at for at, score in enumerate(given) if score is None)
        parts = tuple({"place": Score(float(at), UNIT)} for at in range(len(hits)))
        return Scores(given, Notes(("judge: gone",)) if failed else NO_NOTES, parts, failed)


def read(question: str, *texts: str) -> list[str]:
    scorer = Remembering()
    scored = TableScorer(scorer, documents)(Query(question, question), [piece(text).hit for text in texts])
    assert len(scored.scores) == len(texts)
    return scorer.read


def test_a_piece_of_a_table_is_read_with_its_caption_and_column_names() -> None:
    assert read("What was revenue in Q3?", "| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |")[0] == (
        "Results by quarter. All amounts in million euros. "
        "Quarter: Q3; Revenue: 17.9; Costs: 12.1. Quarter: Q2; Revenue: 15.8; Costs: 11.9."
    )
    assert read("When did the board meet?", "The board met in March.") == ["The board met in March."]


def test_a_table_of_a_document_that_is_gone_is_read_as_it_stands() -> None:
    scorer = Remembering()
    TableScorer(scorer, lambda ids: {})(Query("q", "q"), [piece("| Q3 | 17.9 | 12.1 |").hit])
    assert scorer.read == ["| Q3 | 17.9 | 12.1 |"]
