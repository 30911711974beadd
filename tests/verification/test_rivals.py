from __future__ import annotations

import pytest

from thresher.verification.conflicts import AnswerInSentence, are_rivals

TITLE = "The lighthouse of Kõpu"


def said(sentence: str, title: str = TITLE, around: str = "") -> AnswerInSentence:
    """The answer stands between brackets."""
    start, end = sentence.index("["), sentence.index("]") - 1
    plain = sentence.replace("[", "").replace("]", "")
    return AnswerInSentence(plain, start, end, title, f"{title}. {plain} {around}")


def rivals(question: str, one: AnswerInSentence, other: AnswerInSentence) -> bool:
    both = are_rivals(question, one, other), are_rivals(question, other, one)
    assert both[0] == both[1], "neither is asked first"
    return both[0]


WHEN = "When was the lighthouse of Kõpu completed?"
WHO = "Who designed the lighthouse of Kõpu?"
HOW_HIGH = "How high is the lighthouse of Kõpu?"


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (WHEN,
         "The lighthouse of Kõpu was completed in [1531].", "It was [1538] when Kõpu got its lighthouse completed."),
        (WHEN,
         "Kõpu's lighthouse was completed on [12 May 1531].", "The lighthouse of Kõpu, completed [1538], is old."),
        (HOW_HIGH, "The lighthouse of Kõpu is [36 metres] high.", "With [31 metres] the Kõpu lighthouse is high."),
        (HOW_HIGH, "The lighthouse of Kõpu is [30 to 32 m] high.", "With [36 to 38 m] the lighthouse of Kõpu is high."),
        (HOW_HIGH, "The lighthouse of Kõpu is [about 36 m] high.", "The lighthouse at Kõpu is [50 m] high."),
        (WHO, "The lighthouse of Kõpu was designed by [Anna Tamm].", "[Karl Saar] designed Kõpu's lighthouse."),
        ("Where was the lamp of the lighthouse of Kõpu shown?",
         "The lamp of the Kõpu lighthouse was shown at the [Paris Exhibition].",
         "At the [London Exhibition] the lamp of the lighthouse was shown, which is now at Kõpu."),
        ("How many steps does the lighthouse of Kõpu have?",
         "There are [2000] steps in the lighthouse of Kõpu.", "The lighthouse of Kõpu has [3500] steps."),
    ],
)  # fmt: skip
def test_other_values_of_the_same_thing_are_rivals_whatever_the_words(question: str, one: str, other: str) -> None:
    assert rivals(question, said(one), said(other, "A journey along the coast"))


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (WHEN, "The lighthouse of Kõpu was completed in [1531].",
         "Completed on [12 May 1531], the lighthouse of Kõpu is old."),
        ("How many keepers did the lighthouse of Kõpu have?",
         "The Kõpu lighthouse had [12] keepers.", "[Twelve] keepers lived at the Kõpu lighthouse."),
        ("How many people saw the lighthouse of Kõpu?",
         "About [4 million] people saw the Kõpu lighthouse.", "[4.1 million] people saw the lighthouse of Kõpu."),
        (HOW_HIGH, "The lighthouse of Kõpu is [36 metres] high.", "The Kõpu lighthouse is [118 feet] high."),
        (HOW_HIGH, "The lighthouse of Kõpu is [36 metres] high.", "The lighthouse of Kõpu is [35 to 37 metres] high."),
        (HOW_HIGH,
         "The lighthouse of Kõpu is [36 metres] high.", "The lighthouse of Kõpu is [more than 30 metres] high."),
        (WHO, "The lighthouse of Kõpu was designed by [Anna Tamm].", "[Tamm] designed the lighthouse of Kõpu."),
        (WHO, "The lighthouse of Kõpu was designed by [A. Tamm].", "[Anna Tamm] designed the lighthouse of Kõpu."),
        ("Which of the keepers of Kõpu died there?",
         "Of the keepers of Kõpu [Anna Tamm] died there.", "[Karl Saar], a keeper of Kõpu, died there."),
        ("Who were the keepers of Kõpu?", "The keeper of Kõpu was [Anna Tamm].", "The keeper of Kõpu was [Karl Saar]."),
        ("How many keepers did the lighthouse of Kõpu have?",
         "In 1920 the lighthouse of Kõpu had [12] keepers.", "In 1950 the lighthouse of Kõpu had [3] keepers."),
        ("How many keepers did Kõpu have?",
         "The first lighthouse of Kõpu had [12] keepers.", "The last lighthouse of Kõpu had [3] keepers."),
        (WHO,
         "[Anna Tamm] designed the lighthouse of Kõpu.", "Until he died [Karl Saar] designed the lighthouse of Kõpu."),
        (WHEN, "The lighthouse of Kõpu was completed in [1531].",
         "In [1538] the church of Reigi, a day's walk away, got a new roof."),
        (WHO, "The lighthouse of Kõpu was designed by [Anna Tamm].", "[Karl Saar] designed the lighthouse of Ristna."),
        ("What share of the lamps of Kõpu failed?",
         "At Kõpu [12 %] of the lamps failed.", "At Kõpu [31] of the lamps failed."),
        ("What colour is the lighthouse of Kõpu?",
         "The lighthouse of Kõpu is [white].", "The lighthouse of Kõpu is [red]."),
    ],
)  # fmt: skip
def test_the_same_value_or_what_is_said_of_something_else_or_may_both_be_right_is_no_rival(
    question: str, one: str, other: str
) -> None:
    assert not rivals(question, said(one), said(other))


def test_what_only_its_own_document_names_is_no_rival_under_another_title() -> None:
    question = "What learning rate was used for training?"
    one, other = "We used a learning rate of [0.001] for training.", "For training we used a learning rate of [0.003]."
    assert not rivals(question, said(one, "BERT"), said(other, "GPT"))
    assert rivals(question, said(one, "BERT"), said(other, "BERT"))


def test_what_a_word_of_the_question_is_said_of_may_have_no_capital_in_it() -> None:
    one, other = (
        "[Anna Tamm] was the founder of Kõpu Lamps.",
        "Kõpu Lamps got money from Ristna.ee founder [Karl Saar].",
    )
    assert not rivals("who is the founder of kõpu lamps", said(one), said(other))


def test_documents_of_a_series_are_about_other_things_where_the_question_names_none() -> None:
    one, other = "The manager of the branch is [Anna Tamm].", "The manager of the branch is [Karl Saar]."
    reports = ("Report of the Kõpu branch", "Report of the Ristna branch")
    assert not rivals("Who is the manager of the branch?", said(one, reports[0]), said(other, reports[1]))


def test_a_name_that_the_other_document_knows_too_is_no_rival() -> None:
    one = said("The lighthouse of Kõpu was designed by [Anna Tamm].", around="Karl Saar built it.")
    assert not rivals(WHO, one, said("[Karl Saar] designed the lighthouse of Kõpu."))


def test_a_sentence_that_begins_with_a_pronoun_is_about_what_its_title_says() -> None:
    one, other = said("The lighthouse of Kõpu was completed in [1531]."), said("It was completed in [1538].")
    assert rivals(WHEN, one, other)


def test_a_variant_of_what_is_asked_of_is_no_rival_nor_are_several_values_of_one() -> None:
    question = "How many parameters does Tamm-V2 have?"
    whole = said("Tamm-V2 has [236 million] parameters in all.")
    assert rivals(question, whole, said("Tamm-V2 has [150 million] parameters in all.", "Notes"))
    assert not rivals(question, whole, said("Tamm-V2-Lite has [15 million] parameters in all.", "Notes"))
    assert not rivals(question, whole, said("We train Tamm-V2 with [18 and 34 million] parameters in all.", "Notes"))


BATCH = "What batch size was Tamm trained with?"
PRICE = "What does the pass of Kõpu cost?"
LAYERS = "How many layers does Tamm-net have?"
HEAT = "What is the entry temperature of a gas turbine?"


@pytest.mark.parametrize(
    ("question", "one", "same", "other"),
    [
        (BATCH, "Tamm was trained with a batch size of [256 sequences].",
         "Tamm was trained with a batch size of [128,000 tokens].",
         "Tamm was trained with a batch size of [512 sequences]."),
        (PRICE, "The pass of Kõpu costs [40 euros] a month.", "The pass of Kõpu costs [400 euros] a year.",
         "The pass of Kõpu costs [45 euros] a month."),
        (LAYERS, "Tamm-net has [152 layers].", "We train a Tamm-net with [34] and 50 layers.",
         "We train a Tamm-net with [34] layers."),
        (LAYERS, "Tamm-net has [152 layers].", "The [34-layer] Tamm-net has fewer errors.",
         "Tamm-net has [34 layers], fewer than others."),
        ("What is the period of notice at Kõpu?", "The period of notice at Kõpu is [60 days].",
         "At Kõpu [two months] is the period of notice.", "A [30-day] period of notice holds at Kõpu."),
        ("How many sets does Tamm-net know?", "Tamm-net knows sets of many sizes, [18] of them in all.",
         "[3.1] Sets of Tamm-net and Sizes", "[31] sets of many sizes are known to Tamm-net."),
        ("How many lamps does Tamm have in Kõpu?", "Tamm has [62 lamps] in Kõpu.",
         "Tamm has more than [2,355 lamps] in Ristna, Kõpu and Reigi.", "In Kõpu Tamm has more than [2,355 lamps]."),
        (HEAT, "Gas turbines have an entry temperature of [1500 °C].",
         "In steam turbines the entry temperature is [565 °C].", "In gas turbines the entry temperature is [565 °C]."),
        ("When did The Lamp open at Kõpu?",
         "The Lamp, by Anna Tamm, was opened at Kõpu by the mayor on [15 October 1997].",
         "After its success The Lamp went from Kõpu to Riga on [19 October 1999].",
         "At Kõpu The Lamp was opened on [19 October 1999]."),
        ("What learning rate does Tamm-net use?", "Tamm-net uses a learning rate of [5e-5].",
         "Tamm-net uses a learning rate of [0.00005].", "Tamm-net uses a learning rate of [0.0005]."),
        (PRICE, "The pass of Kõpu costs [EUR 12,50].", "The pass of Kõpu costs [€12.50].",
         "The pass of Kõpu costs [€12.90]."),
    ],
)  # fmt: skip
def test_other_things_are_no_rivals_and_another_value_of_the_same_thing_is(
    question: str, one: str, same: str, other: str
) -> None:
    assert not rivals(question, said(one, "One"), said(same, "Two"))
    assert rivals(question, said(one, "One"), said(other, "Two"))
