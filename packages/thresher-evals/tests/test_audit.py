"""The claims of the sources are computed again, and the page says what comes of it."""

from __future__ import annotations

import json
import re
import statistics
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.cli.app import main
from thresher_evals.audit import (
    COLUMNS,
    Claim,
    Finding,
    Outcome,
    Printed,
    Relation,
    audit,
    markdown,
    read_claims,
    recompute,
)

CLAIMS = read_claims()
PAGE = Path(__file__).resolve().parents[3] / "docs" / "audit.md"
COMPUTED = [finding for finding in audit() if finding.value is not None]


def difference(*, ours: str | int, theirs: str | int, claimed: str | int, relation: Relation = "=") -> Finding:
    inputs: dict[str, Printed] = {"ours": ours, "theirs": theirs}
    return recompute(Claim("T1", "a test", "ours less theirs", inputs, "{ours} − {theirs}", claimed, relation))


def found(code: str, words: str) -> Finding:
    (finding,) = (one for one in audit() if one.claim.code == code and words in one.claim.claim)
    return finding


# --- one claim --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "claimed", "relation", "outcome", "possible"),
    [
        ("0.94", "0.04", "=", Outcome.AGREES, True),
        ("0.94", "0.05", "=", Outcome.DISAGREES, True),  # 0.9449 - 0.8951 is 0.0498
        ("0.94", "0.06", "=", Outcome.DISAGREES, False),
        ("0.94", 0, ">", Outcome.AGREES, True),
        ("0.90", 0, ">", Outcome.DISAGREES, True),
        ("0.90", 0, ">=", Outcome.AGREES, True),
        ("0.89", 0, ">=", Outcome.DISAGREES, False),  # 0.895 at most, which is not above 0.895 at least
    ],
)
def test_a_claim_agrees_when_the_printed_numbers_give_it(
    ours: str, claimed: str | int, relation: Relation, outcome: Outcome, possible: bool
) -> None:
    finding = difference(ours=ours, theirs="0.90", claimed=claimed, relation=relation)
    assert (finding.outcome, finding.possible) == (outcome, possible)


def test_a_number_that_was_not_printed_leaves_nothing_to_compute() -> None:
    inputs: dict[str, Printed] = {"ours": "1", "number_of_questions": None}
    finding = recompute(Claim("T1", "a test", "a share", inputs))
    assert (finding.outcome, finding.value) == (Outcome.UNKNOWN, None)
    assert finding.arithmetic == "not printed: number of questions"
    assert finding.to_dict()["recomputed"] is None


@pytest.mark.parametrize("formula", ["print(1)", "{ours}.real", "[1]", "{ours} if 1 else 2", "'1'"])
def test_a_formula_is_arithmetic_and_nothing_else(formula: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        Claim("T1", "a test", "a share", {"ours": "1"}, formula).compute({"ours": Fraction(1)})


cents = st.integers(1, 999).map(lambda number: f"{number / 100:.2f}")


@given(ours=cents, theirs=cents, claimed=st.integers(-999, 999).map(lambda number: f"{number / 100:.2f}"))
def test_what_agrees_is_possible_and_what_is_computed_lies_between_its_bounds(
    ours: str, theirs: str, claimed: str
) -> None:
    finding = difference(ours=ours, theirs=theirs, claimed=claimed)
    assert finding.value is not None
    assert finding.bounds is not None
    assert finding.bounds[0] < finding.value < finding.bounds[1]
    assert finding.possible or finding.outcome is Outcome.DISAGREES
    near = abs(Fraction(ours) - Fraction(theirs) - Fraction(claimed))
    assert (finding.outcome is Outcome.AGREES) == (near <= Fraction(1, 200))


# --- the claims of the sources ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("finding", COMPUTED, ids=lambda finding: f"{finding.claim.code} {finding.claim.claim[:40]}")
def test_the_arithmetic_that_is_shown_gives_the_number_that_is_shown(finding: Finding) -> None:
    calculation, _, result = finding.arithmetic.rpartition(" = ")
    python = calculation.replace("×", "*").replace("−", "-").replace("^", "**")
    assert re.fullmatch(r"(max|min|round|[\d.,()+*/ -])+", python)
    assert finding.value is not None
    value = eval(python, {"max": max, "min": min, "round": round})  # only the signs checked above
    assert value == pytest.approx(float(finding.value), abs=1e-9)
    assert float(result) == pytest.approx(value, abs=0.006)


def test_f1_is_the_harmonic_mean() -> None:
    for words, precision, recall in (("of RAG", 0.82, 0.76), ("of CRAG", 0.87, 0.84), ("of ECRAG", 0.94, 0.91)):
        value = found("X13", words).value
        assert value is not None
        assert float(value) == pytest.approx(statistics.harmonic_mean([precision, recall]))
    assert found("X13", "of ECRAG").outcome is Outcome.DISAGREES
    assert found("X13", "of ECRAG").verdict == "does not agree (possible before rounding: 0.9198 to 0.9298)"


def test_three_steps_by_hand() -> None:
    """0.649 ** 3 is 0.27336 and 0.549 ** 3 is 0.16547: 65.2 % more; gaps of 0.1198 after two steps, 0.1079 after."""
    more, gap = found("Y20", "66 %").value, found("Y20", "the gap").value
    assert more is not None
    assert gap is not None
    assert float(more) == pytest.approx(65.203, abs=1e-3)
    assert float(gap) == pytest.approx(10.789 - 11.980, abs=1e-3)


def test_forty_percent_is_a_matter_of_counts() -> None:
    """Of 105 places 30 are 0.2857, printed 0.29, and 42 are 0.4: 40 % more, where the printed shares give 37.9."""
    assert found("W1", "whole numbers").outcome is Outcome.AGREES
    shares = found("W1", "from the printed 0.29")
    assert (shares.outcome, shares.possible) == (Outcome.DISAGREES, True)


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_page_is_what_comes_of_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown()
    assert all(line.count("|") == len(COLUMNS) + 1 for line in markdown().splitlines() if line.startswith("|"))


def test_the_command_prints_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["eval", "audit", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["claims"] == len(document["claims"]) == len(CLAIMS)
    assert {one["verdict"] for one in document["claims"]} == set(Outcome)
    assert document["claims"][0]["inputs"] == {"P": "0.82", "R": "0.76"}
