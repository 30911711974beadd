from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.answering.tables import documents, piece
from thresher.judging.windows import TableScorer
from thresher.types import UNIT, Document, Hit, Notes, Query, Scale, Score, Scores

QUARTERS = "| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |"


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
    assert read("What was revenue in Q3?", "| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |")[0] == (
        "Results by quarter. All amounts in million euros. "
        "Quarter: Q3; Revenue: 17.9; Costs: 12.1. Quarter: Q2; Revenue: 15.8; Costs: 11.9."
    )
    assert "Quarter: Q3, Revenue: 17.9." in " ".join(read("Which quarter had a revenue of 17.9?", QUARTERS))
    assert read("When did the board meet?", "The board met in March.") == ["The board met in March."]


def test_a_total_is_read_as_what_the_customer_must_pay() -> None:
    bill = Document("m", "m.md", "Bill", "Customer: Harbour Ltd\nDate: 3 March 2025\nTotal: 484.00 EUR", "text")
    question, scorer = "What must Harbour Ltd pay?", Remembering()
    TableScorer(scorer, lambda ids: {"m": bill})(Query(question, question), [piece(bill.text, bill).hit])
    assert any("The total that Harbour Ltd must pay is 484.00 EUR." in text for text in scorer.read)


def test_a_table_of_a_document_that_is_gone_is_read_as_it_stands() -> None:
    def gone(ids: Sequence[str]) -> Mapping[str, object]:
        return {}

    scorer = Remembering()
    TableScorer(scorer, gone)(Query("q", "q"), [piece("| Q3 | 17.9 | 12.1 |").hit])  # type: ignore[arg-type]
    assert scorer.read == ["| Q3 | 17.9 | 12.1 |"]


def test_a_row_that_a_rule_finds_is_one_more_window_and_the_judge_alone_says_what_it_is_worth() -> None:
    @dataclass
    class Preferring(Remembering):
        def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
            super().__call__(query, hits)
            short = (len(hit.chunk.text) == min(len(other.chunk.text) for other in hits) for hit in hits)
            return Scores(
                tuple(Score(0.4 if best else 0.1, UNIT) for best in short),
                others=tuple({"place": Score(float(at), UNIT)} for at in range(len(hits))),
            )

    scorer, question = Preferring(), "What was revenue in Q3?"
    scored = TableScorer(scorer, documents)(Query(question, question), [piece(QUARTERS).hit])
    best = scorer.read.index("The Revenue of Q3 is 17.9 million euros.")
    assert best > 0
    assert [score.value for score in scored.scores if score] == [0.4]
    assert scored.others[0]["place"].value == best


def test_no_rule_lifts_what_the_judge_gave() -> None:
    scorer, question = Remembering(), "What was revenue in Q3?"
    (score,) = TableScorer(scorer, documents)(Query(question, question), [piece(QUARTERS).hit]).scores
    assert score == Score(0.5, UNIT)
    assert len(scorer.read) > 1


def test_a_chunk_whose_windows_failed_has_no_score_and_is_counted_once() -> None:
    @dataclass
    class Failing(Remembering):
        def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
            return Scores((None,) * len(hits), Notes(("judge: gone",)), failed=tuple(range(len(hits))))

    question = "What was revenue in Q3?"
    scored = TableScorer(Failing(), documents)(Query(question, question), [piece(QUARTERS).hit])
    assert scored.scores == (None,)
    assert scored.missing == (0,)
