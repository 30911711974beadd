from __future__ import annotations

import random
from pathlib import Path

import pytest

from thresher.errors import ModelError, UsageError
from thresher.judging.scorers import JUDGE_FILE, LogOdds, TunedJudge
from thresher_training.comparing import Case, compared, fitted_judge, fitted_odds


def cases(number: int, *, gap: float, seed: int = 0) -> list[Case]:
    """Questions whose relevant passage has a logit that is higher by `gap`."""
    draw = random.Random(seed)
    return [Case((draw.gauss(gap, 1.0),), (draw.gauss(0.0, 1.0), draw.gauss(0.0, 1.0))) for _ in range(number)]


def tuned(found: list[Case]) -> TunedJudge:
    return fitted_judge(found, LogOdds(), name="mine", encoder="e", seed=0)


def test_the_weights_follow_the_labels_and_stay_near_the_usual_ones_where_there_are_few() -> None:
    usual = LogOdds()
    few, many = (fitted_odds(cases(number, gap=3.0), usual) for number in (5, 400))
    assert many.logit > few.logit > usual.logit


def test_a_judge_that_tells_more_apart_is_better() -> None:
    first, second = cases(80, gap=0.5, seed=1), cases(80, gap=4.0, seed=1)
    comparison = compared((first, tuned(first)), (second, tuned(second)), seed=0)
    area = comparison.measured[0]
    assert comparison.better
    assert area.after > area.before
    assert area.difference == pytest.approx(area.after - area.before)
    assert area.difference_interval[0] > 0
    assert comparison.questions == 80


def test_a_worse_judge_and_a_gain_within_chance_are_not_better() -> None:
    first = cases(80, gap=3.0, seed=1)
    for gap in (0.5, 3.1):
        second = cases(80, gap=gap, seed=2)
        assert not compared((first, tuned(first)), (second, tuned(second)), seed=0).better


def test_a_folder_without_a_judge_and_a_damaged_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no trained judge; give `judge_model` a folder"):
        TunedJudge.read(tmp_path)
    for damage in ("", "{}", "[]", '{"odds": {"nonsense": 1}}', '{"combine": {}, "calibration": {}}'):
        (tmp_path / JUDGE_FILE).write_text(damage, encoding="utf-8")
        with pytest.raises(ModelError, match="is damaged, or of an older version; train the judge again"):
            TunedJudge.read(tmp_path)
