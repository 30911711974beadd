"""Each question of the pairs is one of the set, and the other wording is another one."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.questions import paraphrases, rules
from benchmarks.questions.ask import Row

ROW = Row("office-05", "Limit?", "corrective", "190 euros [1]", False, "", "correct", 0.9, "", "right", "", True, 0.1)


def test_sixty_questions_of_all_collections_have_another_wording() -> None:
    questions = {one.id: one for one in rules.load()}
    others = paraphrases.load()
    assert len(others) == len(paraphrases.PARAPHRASES.read_text(encoding="utf-8").splitlines()) == 60
    assert set(others) <= set(questions)
    assert {questions[id].collection for id in others} == {one.collection for one in questions.values()}
    assert {questions[id].answerable for id in others} == {True, False}
    for id, other in others.items():
        assert rules.plain(other).rstrip(" ?") != rules.plain(questions[id].question).rstrip(" ?"), id
    asked = list(paraphrases.both(list(questions.values()), others))
    assert len(asked) == len({one.id for one in asked}) == 120


def test_pairs_agree_when_answer_and_verdict_do() -> None:
    other = ROW.id + paraphrases.OTHER
    same = replace(ROW, id=other, answer="Perhaps here: “190 euros.” [2]")
    refused = replace(ROW, id=other, answer="Nothing.", abstained=True, verdict="incorrect", mark="refused")
    (agreeing,), (parted,) = (paraphrases.pairs([ROW, second]) for second in (same, refused))
    assert agreeing.agrees
    assert [parted.same_answer, parted.same_verdict, parted.agrees] == [False] * 3
    assert not paraphrases.Pair(ROW, replace(same, verdict="ambiguous")).agrees
    assert not paraphrases.Pair(ROW, replace(same, answer="19 euros")).agrees
    said = paraphrases.told([agreeing, parted], shown=1)
    assert "same answer and verdict: 1 (50%)" in said
    assert "refused, incorrect: Nothing." in said
