"""The first option that stands alone counts; the English article and words inside words do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher_evals.metrics.answers import read_option

LETTERS = ("A", "B", "C", "D")
TRUTH = ("true", "false")
PUBHEALTH = ("true", "false", "mixture", "unproven")
CLIMATE = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO", "DISPUTED")


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("C", "C"),
        ("c", "C"),
        (" **C**.", "C"),
        ("(C)", "C"),
        ("(c) because of the heat", "C"),
        ("C) Planetary days become shorter.", "C"),
        ("c) Planetary days become shorter.", "C"),
        ("Answer: C", "C"),
        ("answer: c", "C"),
        ("The answer is A because days are shorter.", "A"),
        ("Answer: A because days are shorter.", "A"),
        ("A planet rotates faster. The answer is C.", "C"),
        ("It rotates faster. A day is shorter, so B.", "B"),
        ("“A day is shorter”, hence D", "D"),
        ("A, since days are shorter", "A"),
        ("A\nDays are shorter", "A"),
        ("A. Days are shorter", "A"),
        ("B or C", "B"),
        ("E", None),
        ("Days are shorter", None),
        ("A day is shorter", None),
        ("In 300 A.D. the Danes came", None),
        ("U.S.A.", None),
        ("a D-shaped lens", None),
        ("Bad, Cold, Dull", None),
        ("", None),
    ],
)
def test_letters(text: str, option: str | None) -> None:
    assert read_option(text, LETTERS) == option


@pytest.mark.parametrize(
    ("text", "options", "option"),
    [
        ("True", TRUTH, "true"),
        ("TRUE.", TRUTH, "true"),
        ("not true", TRUTH, "false"),
        ("That is not entirely true.", TRUTH, "false"),
        ("It cannot be true.", TRUTH, "false"),
        ("This isn't true", TRUTH, "false"),
        ("This isn’t true", TRUTH, "false"),
        ("not false", TRUTH, "true"),
        ("untrue", TRUTH, "false"),
        ("The claim is false, not true.", TRUTH, "false"),
        ("the evidence SUPPORTS it", TRUTH, "true"),
        ("The evidence does not support it.", TRUTH, "false"),
        ("refuted", TRUTH, "false"),
        ("truth, falsely", TRUTH, None),
        ("I cannot say", TRUTH, None),
        ("neither true nor false", TRUTH, None),
        ("Neither entirely true nor entirely false.", TRUTH, None),
        ("The claim is neither a hundred per cent true, nor false.", TRUTH, None),
        ("It is not true, nor false", TRUTH, None),
        ("It is not true or false", TRUTH, None),
        ("It isn't either true or false", TRUTH, None),
        ("The evidence does not support or refute the claim.", TRUTH, None),
        ("It neither supports the claim nor refutes it.", TRUTH, None),
        ("neither true nor false: a mixture", PUBHEALTH, "mixture"),
        ("It neither supports nor refutes it: not enough info.", CLIMATE, "NOT_ENOUGH_INFO"),
        ("not true but misleading or false", TRUTH, "false"),
        ("neither here nor there, but true", TRUTH, "true"),
        ("true or false?", TRUTH, "true"),
        ("False or true, who knows", TRUTH, "false"),
        ("I cannot say whether it is true", TRUTH, None),
        ("It is unclear if the claim is true or false.", TRUTH, None),
        ("Whether it is true, experts were asked: it is false.", TRUTH, "false"),
        ("True, if one believes the study.", TRUTH, "true"),
        ("not true", PUBHEALTH, "false"),
        ("a mixture of true and false", PUBHEALTH, "mixture"),
        ("Unproven", PUBHEALTH, "unproven"),
        ("not unproven", PUBHEALTH, None),
        ("not false", PUBHEALTH, None),
        ("not false but unproven", PUBHEALTH, "unproven"),
        ("not enough info", CLIMATE, "NOT_ENOUGH_INFO"),
        ("There is not enough information.", CLIMATE, "NOT_ENOUGH_INFO"),
        ("Not_Enough_Info", CLIMATE, "NOT_ENOUGH_INFO"),
        ("not supported; disputed", CLIMATE, "DISPUTED"),
        ("true", CLIMATE, "SUPPORTS"),
        ("not true", CLIMATE, "REFUTES"),
        ("half-true", ("true", "half true"), "half true"),
        ("supported", ("true", "supported"), "supported"),
        ("No.", ("yes", "no"), "no"),
        ("Nothing known", ("yes", "no"), None),
    ],
)
def test_labels(text: str, options: tuple[str, ...], option: str | None) -> None:
    assert read_option(text, options) == option


@given(st.text(max_size=60), st.sampled_from([LETTERS, TRUTH, PUBHEALTH, CLIMATE, (*TRUTH, "A", "."), ()]))
def test_any_text_names_one_of_the_options_or_none(text: str, options: tuple[str, ...]) -> None:
    assert read_option(text, options) in {None, *options}


@given(st.sampled_from([LETTERS, PUBHEALTH, CLIMATE, ("yes", "no"), ("C++", "(odd")]), st.data())
def test_an_option_alone_names_itself(options: tuple[str, ...], data: st.DataObject) -> None:
    option = data.draw(st.sampled_from(options))
    assert read_option(option, options) == option
    assert read_option(f"Answer: {option}.", options) == option
