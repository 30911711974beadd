from __future__ import annotations

import pytest

from thresher.text.entities import namesake
from thresher.text.language import other_language
from thresher.verification.rules import computed

REVENUE = "Revenue was 17.9 million euros in Q3. Revenue was 24.6 million euros in Q4."


@pytest.mark.parametrize(
    ("claim", "evidence", "computations"),
    [
        (
            "It grew by 6.7 million euros, from 17.9 to 24.6.",
            "(EUR million) | Q3 17.9 | Q4 24.6",
            ("24.6 − 17.9 = 6.7",),
        ),
        ("It grew by 37%, from 17.9 million to 24.6 million.", REVENUE, ("(24.6 − 17.9) / 17.9 = 37%",)),
        ("It grew by 38%, from 17.9 million to 24.6 million.", REVENUE, ()),
        ("The total of 100, 120 and 80 is 300.", "100 | 120 | 80 | 90", ("100 + 120 + 80 = 300",)),
        ("BERT-large has 230M more than BERT-base (340M, 110M).", "BERT-base 110M. BERT-large 340M", None),
        ("It has 48 layers.", "12 layers and 24 heads", ()),
        ("It has 12 layers.", "12 layers and 24 heads", ()),
    ],
)
def test_a_number_that_follows_from_named_ones_is_shown_with_how(
    claim: str, evidence: str, computations: tuple[str, ...] | None
) -> None:
    _, found = computed(claim, evidence)
    assert bool(found) if computations is None else found in (computations, _millions(computations))


def _millions(computations: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one.replace("24.6", "24600000").replace("17.9", "17900000") for one in computations)


def test_a_namesake_is_told_from_the_one_who_is_meant() -> None:
    claim = "Henry Feilden was a prominent industrialist."
    assert namesake(claim, "The mill of Joseph Feilden was large.") == "Joseph Feilden"
    assert namesake(claim, "Sir Henry Master Feilden owned a mill.") == ""
    assert namesake(claim, "H. Feilden owned a mill.") == ""


@pytest.mark.parametrize(
    ("claim", "language"),
    [
        ("Der Leuchtturm wurde 1531 auf der Insel gebaut.", "German"),
        ("Le phare a été construit en 1531.", "French"),
        ("Маяк был построен в 1531 году.", "Cyrillic script"),
        ("The lighthouse was built in 1531.", ""),
        ("1531", ""),
        ("We use lamps (Wu et al., 2016) with a 30,000 candle bulb.", ""),
    ],
)
def test_a_claim_in_another_language_than_the_evidence_is_known(claim: str, language: str) -> None:
    assert other_language(claim, "The lighthouse was built in 1531. It stands on the island.") == language
