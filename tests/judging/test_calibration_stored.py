from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thresher.errors import StoreError, ThresherError
from thresher.home.files import LocalFiles
from thresher.judging.calibration import Calibration, Calibrations, fit


def made(judge: str = "local", encoder: str = "e") -> Calibration:
    positives = [0.5 + at / 60 for at in range(30)]
    negatives = [at / 60 for at in range(30)]
    return fit(positives, negatives, judge=judge, encoder=encoder, source="labels")


@pytest.fixture
def stored(tmp_path: Path) -> Calibrations:
    return Calibrations(LocalFiles(tmp_path / "new"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new" / "calibrations.json"


def test_before_the_first_there_is_none_and_no_file_is_made(file: Path, stored: Calibrations) -> None:
    assert stored.get("local", "e") is None
    assert not file.exists()


def test_a_calibration_comes_back_as_it_was_put(file: Path, stored: Calibrations) -> None:
    one = made()
    stored.put(one)
    assert Calibrations(LocalFiles(file.parent)).get("local", "e") == one


def test_each_judge_and_encoder_has_its_own_and_the_last_one_counts(stored: Calibrations) -> None:
    one, other = made(), made(encoder="f")
    stored.put(one)
    stored.put(other)
    again = replace(one, upper=0.99)
    stored.put(again)
    assert (stored.get("local", "e"), stored.get("local", "f"), stored.get("other", "e")) == (again, other, None)


def test_nothing_unfinished_is_left_behind(file: Path, stored: Calibrations) -> None:
    stored.put(made())
    assert [one.name for one in file.parent.iterdir()] == ["calibrations.json"]


@pytest.mark.parametrize("damage", ["", "{", "[]", "7", '{"local | e": 7}', '{"local | e": {"judge": "local"}}'])
def test_a_damaged_file_is_an_error_that_says_what_to_do(file: Path, stored: Calibrations, damage: str) -> None:
    stored.put(made())
    file.write_text(damage, encoding="utf-8")
    with pytest.raises(ThresherError, match="calibrate") as caught:
        stored.get("local", "e")
    assert isinstance(caught.value, StoreError)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("damage", ["", "{", "[]"])
def test_calibrating_again_mends_a_damaged_file(file: Path, stored: Calibrations, damage: str) -> None:
    stored.put(made())
    file.write_text(damage, encoding="utf-8")
    stored.put(made())
    assert stored.get("local", "e") == made()


def test_bytes_that_are_no_text_are_damage_too(file: Path, stored: Calibrations) -> None:
    stored.put(made())
    file.write_bytes(b"\xff\xfe{")
    with pytest.raises(StoreError, match="damaged"):
        stored.get("local", "e")
