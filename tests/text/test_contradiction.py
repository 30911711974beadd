from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.text import contradiction as rules
from thresher.text.contradiction import contradiction, find_conflicts
from thresher.types import Evidence

Make = Callable[..., Evidence]

CONTRADICT = [
    ("The Eiffel Tower was built in 1889.", "The Eiffel Tower was built in 1887."),
    ("The Eiffel Tower in Paris was completed in 1889.", "The Eiffel Tower was finished in 1888."),
    ("BERT-base has 12 layers.", "BERT-base has 24 layers."),
    ("BERT-base has 12 layers and 110M parameters.", "BERT-base has 24 layers."),
    ("BERT-base has 12 layers.", "There are 24 layers in BERT-base."),
    ("BERT-base has twelve layers.", "BERT-base has 24 layers."),
    ("Albert Einstein was born on 14 March 1879.", "Albert Einstein was born on March 15, 1879."),
    ("The population of Tallinn is 450,000.", "The population of Tallinn is 1.2 million."),
    ("The ticket to the museum costs $12.", "The ticket to the museum costs $15."),
    ("In 2019 the company's revenue was 5 million euros.", "In 2019 the company's revenue was 7 million euros."),
    ("Aspirin is safe during pregnancy.", "Aspirin is not safe during pregnancy."),
    ("The vaccine causes autism in children.", "The vaccine does not cause autism in children."),
    ("The treaty was never ratified by the senate.", "The treaty was ratified by the senate."),
    ("Dogs are allowed in the national park.", "Dogs are forbidden in the national park."),
    ("Interest rates rise when inflation is high.", "Interest rates fall when inflation is high."),
    ("The signature is checked before the file is opened.", "The signature is checked after the file is opened."),
    ("Removing the evaluator increases accuracy on PopQA.", "Removing the evaluator decreases accuracy on PopQA."),
    (
        "The Kõpu lighthouse's light reaches 26 nautical miles.",
        "The Kõpu lighthouse's light reaches 35 nautical miles.",
    ),
    ("The recommended dose of ibuprofen is 400 mg.", "The recommended dose of ibuprofen is 800 mg."),
    ("Helmets are mandatory on the construction site.", "Helmets are optional on the construction site."),
    ("The bridge over the river has no side rails.", "The bridge over the river has side rails."),
    ("Water boils at 100 degrees at sea level.", "Water boils at 90 degrees at sea level."),
]

OBVIOUS = [
    ("The drug promotes growth.", "The drug inhibits growth."),
    ("The treatment works.", "The treatment fails to work."),
    ("The cell has a nucleus.", "The cell lacks a nucleus."),
    ("The measurement is accurate.", "The measurement is inaccurate."),
    ("It isn't effective.", "It is effective."),
    ("Smoking is permitted in the hall.", "Smoking is prohibited in the hall."),
    ("The shop is open on Sundays.", "The shop is closed on Sundays."),
    ("The town lies north of the river.", "The town lies south of the river."),
    ("Vitamin A is harmful in large doses.", "Vitamin A is beneficial in large doses."),
    ("The drug has an effect on sleep.", "The drug has no effect on sleep."),
    ("There is evidence that tea cures colds.", "There is no evidence that tea cures colds."),
    ("The pump was hardly damaged.", "The pump was damaged."),
    ("It is a 1936 film.", "It is not a 1936 film."),
    ("The ticket costs $12.", "The ticket costs $15."),
    ("The tower was built in 1889.", "The tower was built in 1887."),
    ("The bridge is 2 km long.", "The bridge is 3 kilometres long."),
    ("The wall is 1500 metres long.", "The wall is 2,500 metres long."),
    ("At least 300 guests came to the wedding.", "250 guests came to the wedding."),
    ("The school has twenty-five teachers.", "The school has 30 teachers."),
    ("12% of the voters abstained.", "15 percent of the voters abstained."),
    ("Revenue was 5 million euros in 2019.", "Revenue was €7 million in 2019."),
    ("The maximum dose is 400 mg.", "The maximum dose is 800 mg."),
    ("Mozart was born on 27 January 1756.", "Mozart was born on 1756-01-28."),
    ("The festival begins on 14 March.", "The festival begins on 15 March."),
]
"""Contradictions to anybody who knows that both sentences are about the same thing."""

SAME = [
    ("More than 10 people died in the fire.", "15 people died in the fire."),
    ("About 300 guests came to the wedding.", "310 guests came to the wedding."),
    ("Mozart was born in January 1756.", "Mozart was born on 27 January 1756."),
    ("The school has twenty-five teachers.", "The school has 25 teachers."),
    ("12% of the voters abstained.", "12 per cent of the voters abstained."),
    ("The bridge is 2 km long.", "The bridge is 2 kilometres long."),
    ("Smoking is not allowed in the hall.", "Smoking is prohibited in the hall."),
    ("The drug has an effect on sleep.", "The drug is not without effect on sleep."),
    ("The drug reduces pain.", "The drug reduces pain, but not fever."),
    ("The drug reduces pain and fever.", "The drug not only reduces pain but also fever."),
    ("The drug does not decrease pressure.", "The drug increases pressure."),
    ("The drug does not reduce pain.", "The drug did not reduce pain at all."),
    ("Risk was higher in men.", "Risk was higher in men and lower in women."),
    ("The siege lasted 10-12 days.", "The siege lasted 14 days."),
    ("Cheese is yellow.", "The moon is not green."),
    ("CAS is a survey.", "CAS is a condition survey of 1990."),
]
"""The same in other words, or something else."""

MISSED = [
    ("Marie Curie won the Nobel Prize twice, and she was born in 1867.", "Marie Curie was born in 1868."),
    ("The capital of Australia is Canberra.", "The capital of Australia is Sydney."),
    ("The Eiffel Tower was built in 1889.", "Construction of the Eiffel Tower was over in 1887."),
    ("Coffee raises blood pressure.", "Coffee has no effect on blood pressure."),
    ("Gold is heavier than silver.", "Silver is heavier than gold."),
    ("Nobody survived the crash.", "Somebody survived the crash."),
    ("The company denied the report.", "The company confirmed the report."),
]
"""Contradictions in other words: beyond what is found in documents that nobody has put side by side."""

AGREE = [
    ("BERT-base has 12 layers.", "BERT-large has 24 layers."),
    ("BERT has 12 layers.", "BERT-large has 24 layers."),
    ("The base model has 12 layers.", "The large model has 24 layers."),
    ("The transformer model has 12 layers.", "The large transformer model has 24 layers."),
    ("The encoder has 6 layers.", "The decoder has 12 layers."),
    ("In 2019 revenue was 5 million euros.", "In 2020 revenue was 7 million euros."),
    ("Revenue was 5 million euros in 2019.", "Revenue was 5 million euros in 2020."),
    ("France won the World Cup in 1998.", "France won the World Cup in 2018."),
    ("World War I began in 1914.", "World War II began in 1939."),
    ("The Eiffel Tower was begun in 1887.", "The Eiffel Tower was completed in 1889."),
    ("The tower was completed in 1889.", "The tower was completed in 1894."),
    ("He was born in Ulm in 1879.", "He was born in Ulm in 1901."),
    ("The Eiffel Tower was built in 1889.", "The Eiffel Tower was constructed in 1889."),
    ("The Eiffel Tower is about 330 metres tall.", "The Eiffel Tower is 324 metres tall."),
    ("Albert Einstein was born in 1879.", "Albert Einstein was born on 14 March 1879."),
    ("The population of Tallinn is 1,200,000.", "The population of Tallinn is 1.2 million."),
    ("The population of Tallinn is 453,864.", "The population of Tallinn is 450,000."),
    ("The population of Tallinn is 1,234,567.", "The population of Tallinn is 1.2 million."),
    ("In 2019 dogs were allowed in the park.", "In 2020 dogs were forbidden in the park."),
    ("In 2019 the drug was safe for adults.", "In 2020 the drug was not safe for adults."),
    ("The north tower was finished in stone.", "The south tower was finished in stone."),
    ("The minimum age of riders is 12 years.", "The maximum age of riders is 80 years."),
    ("Male spiders weave in the dark.", "Female spiders weave in the dark."),
    ("Two men wait at the station.", "Two women wait at the station."),
    ("A man with no hat is holding a ball.", "A man is holding a ball."),
    ("The deal contained none of the goods.", "The deal did not contain any of the goods."),
    ("Training takes 3 days with 8 cores.", "Training takes 2 days with 16 cores."),
    ("The accuracy of BERT is 85%.", "The accuracy of BERT on SQuAD is 90%."),
    ("The museum costs more than 10 euros.", "The museum costs 15 euros."),
    ("Aspirin is not recommended for children.", "Aspirin is recommended for adults."),
    ("Aspirin is not dangerous for adults.", "Aspirin is safe for adults."),
    ("Smoking is not allowed in the park.", "Smoking is forbidden in the park."),
    ("The drug may be safe for children.", "The drug is not safe for children."),
    ("The old bridge was open to cars.", "The old bridge is not open to cars."),
    ("Is aspirin safe during pregnancy?", "Aspirin is not safe during pregnancy."),
    ("Some claim that the vaccine is not safe.", "The vaccine is safe."),
    ("Prices rise when supply falls.", "Prices rise when demand rises."),
    ("GPT-3 was released in 2020.", "GPT-4 was released in 2023."),
    ("The encoder has 6 layers and the decoder has 12 layers.", "The encoder has 6 layers."),
    ("Vitamin A is required daily.", "Vitamin C is not required daily."),
    ("Paris has 2.1 million inhabitants.", "Lyon has 0.5 million inhabitants."),
    ("The vaccine is safe and does not cause autism.", "The vaccine is safe."),
]


@pytest.fixture
def pair(make_evidence: Make) -> Callable[..., list[Evidence]]:
    def make(one: str, other: str, **more: object) -> list[Evidence]:
        return [
            make_evidence(one, id="c1", document="d1", **more),
            make_evidence(other, id="c2", document="d2", **more),
        ]

    return make


def found(evidence: list[Evidence], **more: object) -> tuple[tuple[int, int], ...]:
    return find_conflicts(evidence, **more).pairs  # type: ignore[arg-type]


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_what_contradicts_is_found(pair: Callable[..., list[Evidence]], one: str, other: str) -> None:
    assert found(pair(one, other)) == ((1, 2),)
    assert found(pair(other, one)) == ((1, 2),)


A_NAME_SAYS_IT_TOO = ("Reed City is a city in Michigan.", "Reed City is not a city in Michigan.")


@pytest.mark.parametrize(("one", "other"), [*OBVIOUS, A_NAME_SAYS_IT_TOO])
def test_what_is_obvious_is_found_under_one_title(pair: Callable[..., list[Evidence]], one: str, other: str) -> None:
    assert found(pair(one, other, title="The matter")) == found(pair(other, one, title="The matter")) == ((1, 2),)


@pytest.mark.parametrize(("one", "other"), CONTRADICT + OBVIOUS)
def test_a_claim_about_the_same_matter_is_denied_for_a_reason(one: str, other: str) -> None:
    assert contradiction(one, other)
    assert contradiction(other, one)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_or_something_else_denies_nothing(
    pair: Callable[..., list[Evidence]], one: str, other: str
) -> None:
    assert contradiction(one, other) == contradiction(other, one) == ""
    assert found(pair(one, other, title="The matter")) == ()


@pytest.mark.parametrize(
    ("claim", "sentence", "reason"),
    [
        ("Aspirin is safe.", "Aspirin is not safe.", "the evidence says “not” of “safe”, the other does not"),
        ("Aspirin is not safe.", "Aspirin is safe.", "the sentence says “not” of “safe”, the other does not"),
        ("Aspirin is safe.", "Aspirin is dangerous.", "opposite words (protect/endanger)"),
        ("It has 12 layers.", "It has 24 layers.", "the evidence says 24 where the sentence says 12"),
        ("He was born in 1879.", "He was born on 14 March 1880.",
         "the evidence says 14 March 1880 where the sentence says 1879"),
    ],
)  # fmt: skip
def test_the_reason_names_what_differs(claim: str, sentence: str, reason: str) -> None:
    assert contradiction(claim, sentence) == reason


@given(some.text(max_size=120))
def test_no_text_denies_itself(text: str) -> None:
    assert contradiction(text, text) == ""


def test_no_word_is_on_two_sides() -> None:
    words = rules._OPPOSITES.replace("/", " ").replace(";", " ").split()
    assert sorted(words) == sorted(set(words))


def test_the_trace_counts_what_the_rules_found(pair: Callable[..., list[Evidence]]) -> None:
    conflicts = find_conflicts(pair(*CONTRADICT[0]))
    assert (conflicts.pairs, conflicts.notes.facts) == (((1, 2),), {"conflicts": {"by_rules": 1}})


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_what_does_not_contradict_is_left_alone(pair: Callable[..., list[Evidence]], one: str, other: str) -> None:
    assert found(pair(one, other)) == ()
    assert found(pair(other, one)) == ()


@pytest.mark.parametrize(("one", "other"), MISSED)
def test_other_words_are_beyond_the_rules(pair: Callable[..., list[Evidence]], one: str, other: str) -> None:
    assert found(pair(one, other)) == ()


def test_one_document_does_not_contradict_itself(make_evidence: Make) -> None:
    evidence = [make_evidence(text, id=str(n)) for n, text in enumerate(CONTRADICT[0])]
    assert found(evidence) == ()


def test_tables_are_left_out(pair: Callable[..., list[Evidence]]) -> None:
    assert found(pair(*CONTRADICT[0], kind="table")) == ()


def test_the_same_title_tells_which_tower_is_meant(pair: Callable[..., list[Evidence]]) -> None:
    sentences = ("It was completed in 1889.", "It was completed in 1894.")
    assert found(pair(*sentences)) == ()
    assert found(pair(*sentences, title="Eiffel Tower")) == ((1, 2),)


@pytest.mark.parametrize(
    ("sentences", "titles", "conflict"),
    [
        (("The per capita income for the county was $17,174.", "The per capita income for the county was $16,603."),
         ("McLennan County, Texas", "Van Buren County, Arkansas"), False),
        (("On Metacritic, the film has a score of 74 of 100.", "On Metacritic, the film has a score of 80 of 100."),
         ("Beast", "Big Night"), False),
        (("The notice period for employees is 3 months.", "The notice period for employees is 4 months."),
         ("Handbook 2023", "Handbook 2024"), True),
        (("The Kõpu lighthouse was built in 1531.", "The Kõpu lighthouse was built in 1532."),
         ("Lighthouses", "Hiiumaa"), True),
        (("Aspirin is safe during pregnancy.", "Aspirin is not safe during pregnancy."),
         ("Aspirin leaflet", "Drugs and children"), True),
    ],
)  # fmt: skip
def test_titles_tell_what_a_sentence_is_about(
    make_evidence: Make, sentences: tuple[str, str], titles: tuple[str, str], conflict: bool
) -> None:
    evidence = [
        make_evidence(text, id=title, document=title, title=title)
        for text, title in zip(sentences, titles, strict=True)
    ]
    assert bool(found(evidence)) is conflict


def test_positions_are_those_of_the_evidence(make_evidence: Make) -> None:
    texts = [
        "Nothing of it. BERT-base has 12 layers.",
        "Cheese ripens.",
        "BERT-base has 24 layers.",
        "BERT-base has 12 layers.",
    ]
    evidence = [make_evidence(text, id=str(n), document=str(n)) for n, text in enumerate(texts)]
    assert found(evidence) == ((1, 3), (3, 4))


def test_near_embeddings_let_fewer_words_be_enough(pair: Callable[..., list[Evidence]]) -> None:
    evidence = pair(
        "The Kõpu lighthouse was built in 1531, and Hanseatic traders paid.",
        "Kõpu lighthouse was built in 1532.",
    )
    assert found(evidence) == ()
    assert found(evidence, similar=lambda texts: [[0.8] * len(texts)] * len(texts)) == ()
    assert found(evidence, similar=lambda texts: [[0.9] * len(texts)] * len(texts)) == ((1, 2),)
