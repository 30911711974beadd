"""The recommendation is the right one where the right one is known, and says when the data cannot tell."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thresher.cli.app import main
from thresher_evals.compare.compare import weigh
from thresher_evals.compare.recommend import detectable, recommend, value, values_of
from thresher_evals.compare.text_report import advice, silence, tell
from thresher_evals.dataset import Gold, Question
from thresher_evals.metrics.answers import Outcome
from thresher_evals.rows import Row, read_reply

USAGE = {"llm_calls": 0, "prompt_tokens": 10, "completion_tokens": 2, "web_requests": 0, "hosts": []}
CORRECTS = {"rag": False, "hybrid": False, "corrective": True}


def row(
    number: int,
    text: str | None,
    *,
    recipe: str = "rag",
    answerable: bool = True,
    answers: Sequence[str] = ("yes",),
    gold: Sequence[str] = (),
    cited: str = "",
) -> Row:
    """One row; a text of None is a refusal."""
    question = Question(
        f"q{number}", f"Question {number}?", tuple(answers), answerable, tuple(map(Gold, gold)), category="made"
    )
    answer = {"text": text or "", "abstained": text is None, "reason": None if text else "too little", "usage": USAGE}
    reply = read_reply({**answer, "citations": [{"source": cited}] if cited else []})
    return Row(question, recipe, "c", 0.1, reply=reply)


def rows(marks: str, recipe: str = "rag") -> list[Row]:
    """A row for each mark: + is right, - is wrong, 0 is no answer."""
    texts: Mapping[str, str | None] = {"+": "yes", "-": "no", "0": None}
    return [row(number, texts[mark], recipe=recipe) for number, mark in enumerate(marks)]


def values(marks: str) -> dict[str, float]:
    return values_of(rows(marks))


# --- outcomes ---------------------------------------------------------------------------------------------------------


def test_a_wrong_answer_is_worth_less_than_none_by_what_it_costs() -> None:
    worth = {one: value(one) for one in Outcome if value(one)}
    assert worth == {"right": 1.0, "unchecked": 1.0, "wrong": -1.0, "unreadable": -1.0}
    assert value(Outcome.WRONG, 3.0) == -3.0


# --- the rule ---------------------------------------------------------------------------------------------------------


def test_correction_that_helps_is_recommended_for_certain() -> None:
    found = {
        "rag": values("-" * 20 + "+" * 20),
        "hybrid": values("-" * 18 + "+" * 22),
        "corrective": values("+" * 15 + "0" * 5 + "+" * 20),
    }
    told = recommend(found, "rag", CORRECTS)
    assert (told.recipe, told.certain) == ("corrective", True)
    assert "20 questions came out better and 0 worse" in told.why


def test_correction_that_hurts_is_advised_against_for_certain() -> None:
    found = {"rag": values("+" * 30 + "-" * 10), "corrective": values("0" * 15 + "+" * 15 + "-" * 10)}
    told = recommend(found, "rag", CORRECTS)
    assert (told.recipe, told.certain) == ("rag", True)
    assert "correction makes answers worse" in told.why


def test_a_handful_of_questions_tells_nothing_even_when_all_got_better() -> None:
    told = recommend({"rag": values("-00"), "corrective": values("+++")}, "rag", CORRECTS)
    assert (told.recipe, told.certain) == ("rag", False)
    assert detectable([2.0, 1.0, 1.0]) > 1


def test_better_retrieval_is_not_taken_for_correction() -> None:
    found = {
        "rag": values("-" * 20 + "+" * 20),
        "hybrid": values("+" * 39 + "0"),
        "corrective": values("+" * 40),
    }
    told = recommend(found, "rag", CORRECTS)
    assert (told.recipe, told.certain) == ("corrective", False)
    assert "better than hybrid, which does not correct, cannot be told" in told.why
    told = recommend({**found, "corrective": values("+" * 21 + "-" * 19)}, "rag", CORRECTS)
    assert (told.recipe, told.certain) == ("hybrid", True)


def test_more_questions_show_smaller_differences() -> None:
    seen = [detectable(values, 1) for values in ([1.0, 0.0, -1.0, 0.0] * 5, [1.0, 0.0, -1.0, 0.0] * 50)]
    assert seen[0] > 3 * seen[1]
    # 2.80 standard errors: 1.96 for the level and 0.84 for the power.
    assert seen[1] == pytest.approx(2.80 * np.std([1.0, 0.0, -1.0, 0.0] * 50, ddof=1) / np.sqrt(200), rel=0.001)
    assert detectable([0.0] * 14) == pytest.approx(6 / 14)  # 2 * 0.5 ** 6 is the first p below 0.05
    assert detectable([]) == detectable([1.0]) == 6


# --- weighing and telling ---------------------------------------------------------------------------------------------


def test_what_is_worse_than_silence_is_said_with_what_was_wrong() -> None:
    wrong = [row(number, "no", recipe="rag", gold=["a.txt"], cited="/notes/b.txt") for number in range(8)]
    invented = [row(number, "yes", recipe="rag", answerable=False, answers=()) for number in range(8, 12)]
    found = weigh({"rag": [*wrong, *invented], "hybrid": rows("-" * 12, "hybrid")}, "rag")
    assert found["silence"] == {
        "worse": ["rag", "hybrid"],
        "every": True,
        "certain": True,
        "best": "rag",
        "wrong": 12,
        "wrong_of_unanswerable": 4,
        "wrong_elsewhere": 8,
    }
    told = "\n".join(silence(found))
    assert "Every recipe is worse than silence here: no answer at all is worth 0, and the best, rag, -1.00" in told
    assert "Of its 12 wrong answers 4 are to questions that the documents do not answer, and 8 cite none" in told
    one = weigh({"rag": rows("+++-"), "hybrid": rows("---0", "hybrid")}, "rag")
    assert list(silence(one)) == ["  Worse than silence on these questions: hybrid (a value below 0)."]
    assert not list(silence(weigh({"rag": rows("+++-")}, "rag")))


def test_what_is_worse_than_silence_is_not_recommended() -> None:
    none = weigh({"rag": rows("---0"), "hybrid": rows("----", "hybrid")}, "rag")
    assert not [line for line in advice(none) if "Use " in line]
    other = weigh({"rag": rows("---+"), "hybrid": rows("0000", "hybrid")}, "rag")
    assert other["recommend"]["recipe"] == "rag"
    assert "  Use hybrid (not certain), whose answers are worth most." in list(advice(other))


# --- the command ------------------------------------------------------------------------------------------------------


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.fixture
def asked(tmp_path: Path, write_lines: Callable[[Path, Sequence[Any]], Path]) -> Path:
    return write_lines(
        tmp_path / "asked.jsonl",
        [
            {"id": "1", "question": "When was the Kõpu lighthouse built?", "answers": ["1531"], "category": "year"},
            {"id": "2", "question": "Who designed the Semmering railway?", "answers": ["Carl von Ghega"]},
            {"id": "3", "question": "Who left the red umbrella in our stairwell?", "answerable": False},
        ],
    )


def test_the_command_asks_resumes_and_says_what_it_cannot_tell(
    home: Path, asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("eval", "compare", "--questions", asked, "--home", home, "--recipe", "corrective")
    given = (*given, "--set", "rerank_api_key=s3cret")
    assert command(*given, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["recipes"]) == {"rag", "corrective"}
    assert found["recommend"].keys() == {"recipe", "why", "certain"}
    assert found["recommend"]["certain"] is False
    assert found["calibration"]["tried"] is False
    assert Path(found["directory"]) == home / "comparisons" / "default-asked"
    assert command(*given) == 2
    assert "--resume" in capsys.readouterr().err
    assert command(*given, "--resume") == 0
    told = capsys.readouterr().out
    assert "3 questions: 2 that the documents answer, 1 that they do not." in told
    assert "n = 3 is too few" in told
    assert told.count("half of 3 questions is too few") == 1
    assert "What to do" in told
    report = home / "report"
    assert command("eval", "report", home / "comparisons" / "default-asked", "--out", report) == 0
    page = (report / "report.md").read_text(encoding="utf-8")
    assert page.splitlines()[2] == "What to do"
    assert "Use rag (not certain)" in page
    (of_set,) = (report / "datasets").glob("*.md")
    page = of_set.read_text(encoding="utf-8")
    assert re.search(r"\| Who designed the Semmering railway\? \| Carl von Ghega \| right: .*Carl von Ghega", page)
    assert "s3cret" not in "".join(path.read_text() for path in home.rglob("*.json"))
    (again,) = re.findall("To make it again: `thresher (.*)`", page)
    assert command(*shlex.split(again)) == 0


def test_nonsense_is_refused_in_one_line(home: Path, asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("eval", "compare", "--questions", asked, "--home", home)
    assert command(*given, "--baseline", "crag") == 2
    assert "corrects, and cannot be the baseline" in capsys.readouterr().err
    assert command(*given, "--recipe", "rag") == 2
    assert "is compared with nothing" in capsys.readouterr().err
    assert command(*given, "--outside", "nowhere") == 2
    assert "is no outside source" in capsys.readouterr().err
    assert command(*given, "--outside", "collection:missing") == 2
    assert "holds no documents yet" in capsys.readouterr().err
    assert not (home / "comparisons").exists()
    assert command(*given, "--collection", "empty") == 1
    assert "holds no documents yet" in capsys.readouterr().err


def test_everything_is_told_of_a_comparison_that_has_it_all() -> None:
    found = weigh({"rag": rows("-" * 20 + "+"), "corrective": rows("+" * 20 + "0", "corrective")}, "rag")
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    for told in found["recipes"].values():
        told["measures"] = dict.fromkeys(
            ("match", "match_norm", "f1", "gold_source", "gold_page", "wrong_refusals", "refusal_recall"), nothing
        )
    for told in found["cost"].values():
        told |= {"seconds_p50": nothing, "seconds_p95": nothing, "llm_calls": nothing}
    calibration = {
        "tried": True, "adopt": True, "chosen_on": 10, "checked_on": 11, "certain": False,
        "why": "on the half that it was not fitted on it did better",
        "check": {"better": 2, "worse": 1, "difference": 0.1, "low": -0.1, "high": 0.3},
    }  # fmt: skip
    found = {**found, "outside": "web", "failed": 0, "calibration": calibration}
    told = "\n".join(part for part in tell(found, shown=5) if isinstance(part, str))
    assert "Use corrective: corrective is better than rag: 20 questions came out better" in told
    assert "it did better (on 11 other questions 2 came out better and 1 worse, value +0.10 [-0.10, +0.30])" in told
    assert "Where correction hurt: 1 of 21 questions" in told
    assert "rag: right: yes" in told
    assert "corrective: refused wrongly: too little" in told
