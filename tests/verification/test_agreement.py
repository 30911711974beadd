from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.labels import means
from thresher.verification.agreement import disagreement, unnamed


@pytest.mark.parametrize(
    ("question", "known", "name"),
    [
        ("Total of order PW-24-0416?", "Order PW-24-0415. Total: 600.00", "PW-24-0416"),
        ("What does Mixtral 8x22B reach?", "Mixtral 8×7B reaches 70.6", "8x22B"),
        ("What does stage 4 partition?", "Stage 1 partitions states, stage 2 gradients.", "stage 4"),
        ("What does stage 2 partition?", "Stage 1 partitions states, stage 2 gradients.", ""),
        ("What does GPT-2 use?", "GPT2 uses bytes.", ""),
        ("What did Mixtral 8x7B reach?", "Mixtral 8×7B reaches 70.6", ""),
        ("Who lived there in 2023?", "Nobody knows the year.", ""),
    ],
)
def test_a_code_or_numbered_thing_is_unnamed_where_the_text_has_another(question: str, known: str, name: str) -> None:
    assert unnamed(question, known) == name


@pytest.mark.parametrize(
    ("question", "sentence", "answer", "title", "said"),
    [
        ("What is it during probation?", "After probation it is eight weeks.", "eight weeks", "", "after probation"),
        ("What is it after the probation?", "After probation it is eight weeks.", "eight weeks", "", ""),
        ("When does the first boat leave?", "The last boat leaves at 22:30.", "22:30", "", "the other of first/last"),
        ("When does it leave on Sundays?", "On Saturdays it leaves at 9.", "9", "", "of Saturday, not of Sunday"),
        ("When does it leave on Wednesday?", "Monday to Friday it leaves at 9.", "9", "", ""),
        ("On which day is it shut in May?", "In May it is shut on Mondays.", "Mondays", "", ""),
        ("Who came in June?", "Anna came in January, Tom in March.", "Tom", "", "of January, not of June"),
        ("May I come on 3 May?", "Come on 3 May.", "Come", "", ""),
        ("What were sales in 2023?", "Sales were 4 million in 2024.", "4 million", "", "of 2024, not of 2023"),
        ("What were sales in 2023?", "Sales were 4 million.", "4 million", "Report 2024", "of 2024, not of 2023"),
        ("What were sales in 2024?", "Sales were 4 million.", "4 million", "Report 2024", ""),
        ("When did she win, after 2003?", "She won in 2009.", "2009", "", ""),
        ("Who ran it before Ann Lee?", "It is run by Ann Lee.", "Ann Lee", "", "nothing about before"),
        ("Who ran it before Ann Lee?", "Until May it was run by Bo Falk.", "Bo Falk", "", ""),
        ("When has the canoe to be back?", "To be back by: 5 May", "5 May", "", ""),
        ("When did they pay invoice 7?", "Invoice date: 5 May", "5 May", "Invoice 7", "“Invoice date”"),
        ("When was invoice 7 issued?", "Invoice date: 5 May", "5 May", "Invoice 7", ""),
        ("When is the concert?", "Date: 5 May", "5 May", "Concert", ""),
    ],
)
def test_a_sentence_disagrees_that_says_another_of_the_same_sort(
    question: str, sentence: str, answer: str, title: str, said: str
) -> None:
    assert disagreement(question, sentence, answer, title) == said


@given(st.text(max_size=80))
def test_a_text_never_disagrees_with_itself_and_names_all_it_names(text: str) -> None:
    assert unnamed(text, text) == ""


def test_words_of_labels_mean_the_same() -> None:
    assert means("due", ["pay"])
    assert means("cost", ["price"])
    assert not means("order", ["date"])
