"""What a rule wins and loses is counted on the engine without it, which is put back."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.quality.rows import Row
from benchmarks.quality.worth import Asked, Worth, heard, off_together, switched_off
from thresher.question import intent
from thresher.recipes.rules import RULES
from thresher.structure.versions import AskedTime, asked_time

OF = {rule.name: rule for rule in RULES}
RIGHT = Asked(Row("s", "1", True, "correct", "answered", "right", "right", marked="right"), ("It is 9.",))
DOUBTED = Asked(replace(RIGHT.row, state="doubtful"), ("Perhaps: it is 9.",))
WRONG = Asked(replace(RIGHT.row, marked="wrong"), ("It is 8.",))


def test_a_rule_is_off_in_every_module_that_has_its_function_and_then_on_again() -> None:
    function, method = intent.subject_asked, AskedTime.allows
    with switched_off([OF["what_is"], OF["at_that_time"]]):
        assert intent.intent_of("What is tar?").subject == intent.subject_asked("What is tar?") == ""
        assert AskedTime.allows is not method
    assert intent.subject_asked is function
    assert intent.intent_of("What is tar?").subject == "tar"
    assert AskedTime.allows is method


def test_a_rule_speaks_where_its_function_says_more_than_nothing() -> None:
    spoke: list[str] = []
    with heard([OF["what_is"], OF["asked_time"]], lambda rule: spoke.append(rule.name)):
        intent.subject_asked("How long is it?")
        asked_time("What is tar?")
        assert spoke == []
        assert intent.subject_asked("What is tar?") == "tar"
    assert spoke == ["what_is"]


def test_rules_are_switched_off_alone_by_kind_and_all_together() -> None:
    off = off_together(RULES)
    assert [len(off[one]) for one in ("what_is", "all")] == [1, len(RULES)]
    assert sum(len(rules) for name, rules in off.items() if name.startswith("all that")) == len(RULES)


def test_a_right_answer_that_a_rule_doubts_counts_against_it_and_a_wrong_one_that_it_spares_for_it() -> None:
    found = Worth()
    found.count(DOUBTED, RIGHT)
    assert (found.changed, found.doubted, found.marked_won, found.marked_lost) == (1, 1, 0, 0)
    found.count(RIGHT, WRONG)
    assert (found.changed, found.marked_won, found.wrong_spared, found.wrong_caused) == (2, 1, 1, 0)
    found.count(RIGHT, RIGHT)
    assert found.changed == 2
