from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.questions import verdicts
from benchmarks.questions.ask import ask_all, asked, read
from benchmarks.questions.rules import Question
from thresher.answer import Answer
from thresher.types import UNIT, Chunk, Citation, Evidence, Hit, Refined, Score, Step, Usage, Verdict

WHO = Question("r-1", "reports", "who", "Who is the manager?", answerable=True, expected=(("Ada Berg",),))
WHEN = Question("r-2", "reports", "when", "When did it close?", answerable=False)
CHUNK = Chunk("c", "d", "/made/vik.txt", "Vik", 0, 30, "The manager of Vik is Ada Berg.")
HIT = Hit(CHUNK, Score(0.9, UNIT), 1)
CITED = Citation(1, "d", "/made/vik.txt", "Vik", None, 0, 30, CHUNK.text, Score(0.9, UNIT))


def answer(question: str, text: str, *, abstained: bool = False, verdict: Verdict = Verdict.CORRECT) -> Answer:
    refined = Refined((Evidence(HIT, 0, 30, CHUNK.text),))
    steps = (Step("refine", 0.1, 1, 1, value=refined), Step("generate", 0.1, 1, 1))
    citations = () if abstained else (CITED,)
    reason = "Too little." if abstained else None
    return Answer(
        question, "corrective", text, abstained, reason, verdict, 0.9, citations, (), steps, Usage(), (), "trace"
    )


class Replying:
    """A collection with its replies written down; counts what it was asked."""

    def __init__(self, *replies: Answer) -> None:
        self.replies = {reply.question: reply for reply in replies}
        self.questions: list[str] = []

    def ask(self, question: str, *, recipe: str) -> Answer:
        self.questions.append(question)
        return self.replies[question]


def judged(*answers: Answer, known: Sequence[verdicts.Verdict] = ()) -> list[verdicts.Verdict]:
    rows = [asked(one, Replying(*answers), "corrective") for one in (WHO, WHEN)]
    return verdicts.judged(rows, {(one.id, one.answer): one for one in known})


RIGHT = answer(WHO.question, "Ada Berg [1]")
WRONG = answer(WHO.question, "Bo Lund\n[1]")
REFUSED = answer(WHEN.question, "The documents do not say.", abstained=True, verdict=Verdict.INCORRECT)


def test_asking_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    collection, out = Replying(RIGHT, REFUSED), tmp_path / "rows.jsonl"
    list(ask_all([WHO], lambda name: collection, "corrective", out))
    list(ask_all([WHO, WHEN], lambda name: collection, "corrective", out))
    assert collection.questions == [WHO.question, WHEN.question]
    assert [(row.mark, row.evidence_holds) for row in read(out)] == [("right", True), ("refused", None)]
    assert read(out)[0].citation == "vik.txt: The manager of Vik is Ada Berg."


def test_a_verdict_by_hand_counts_for_the_same_answer_only() -> None:
    read_before = verdicts.Verdict("r-1", WHO.question, "Bo Lund [1]", "partly", "read: he is her deputy")
    assert judged(WRONG, REFUSED, known=[read_before])[0] == read_before
    assert judged(RIGHT, REFUSED, known=[read_before])[0].why == "by rule: states all that is expected"


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = [verdicts.Verdict("r-1", 'What is "x"?', 'It says "a\tb"\nand c', "right", "read: it does")]
    verdicts.write(tmp_path / "label.tsv", made)
    (loaded,) = verdicts.load(tmp_path / "label.tsv")
    assert loaded == replace(made[0], answer='It says "a b" and c')
    assert list(verdicts.by_hand(tmp_path)) == [("r-1", 'It says "a b" and c')]


def test_counts_tell_wrong_answers_under_correct_and_refusals_of_what_has_no_answer() -> None:
    invented = answer(WHEN.question, "In 1950 [1]")
    rows = [asked(one, Replying(WRONG, invented), "corrective") for one in (WHO, WHEN)]
    of = verdicts.counted([WHO, WHEN], rows, verdicts.judged(rows, {}))
    assert (of.wrong, of.wrong_under_correct, of.wrong_of_them, of.judged_correct) == (1, 1, 2, 2)
    assert (of.rightly_refused, of.unanswerable, of.evidence) == (0, 1, (1, 1))
    assert "right 0.000 of the answerable" in verdicts.table([WHO, WHEN], rows, verdicts.judged(rows, {}), by="kind")


def test_certainty_is_that_of_the_answer_where_there_is_one() -> None:
    asked_of = Replying(replace(RIGHT, certainty=0.75), answer(WHEN.question, "In 1950 [1]"))
    rows = [asked(one, asked_of, "corrective") for one in (WHO, WHEN)]
    # the wrong one stands at .9, the confidence in its evidence, and is the surer: errors (.25 + .9) / 2
    told = verdicts.certainty(rows, verdicts.judged(rows, {}))
    assert told.startswith("certainty: ECE 0.575 over 2 answers; not right: 1.00 of the surest 25%")


def test_the_comparison_is_paired_and_names_what_was_lost() -> None:
    told = verdicts.compared([WHO, WHEN], judged(RIGHT, REFUSED), judged(WRONG, REFUSED))
    assert "answerable right       1 -> 0 of 1; better on 0, worse on 1" in told
    assert "lost: r-1" in told
    assert "unanswerable refused   1 -> 1 of 1" in told
