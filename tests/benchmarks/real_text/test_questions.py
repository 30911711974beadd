from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.questions import rules
from benchmarks.real_text import documents, questions
from benchmarks.real_text.questions import TextQuestion

ALL = questions.load()


def test_there_are_200_questions_and_60_of_them_have_no_answer() -> None:
    assert len(ALL) == 200
    assert sum(not one.answerable for one in ALL) == 60
    assert len({one.id for one in ALL}) == len({one.question for one in ALL}) == 200


def test_what_is_put_aside_is_told_by_the_id_alone() -> None:
    assert all(one.part == questions.part_of(one.id) for one in ALL)


def test_a_third_of_the_papers_of_the_manuals_and_of_the_unanswerable_questions_is_put_aside() -> None:
    aside = [one for one in ALL if one.part == "aside"]
    assert Counter(one.source == "papers" for one in aside) == {True: 20, False: 47}
    assert Counter(one.answerable for one in aside) == {True: 47, False: 20}


def test_an_answerable_question_says_what_must_be_stated_and_another_what_stands_nowhere() -> None:
    for one in ALL:
        assert bool(one.expected) is one.answerable, one.id
        assert bool(one.absent) is not one.answerable, one.id
        assert all(all(group) and group for group in (*one.expected, *one.absent)), one.id


def test_nothing_forbidden_is_expected_too() -> None:
    for one in ALL:
        expected = {rules.plain(each) for group in one.expected for each in group}
        assert not expected & {rules.plain(each) for each in one.forbidden}, one.id


def test_each_question_names_a_document_of_its_source_that_is_indexed() -> None:
    pages = [line.split(" ", 1) for line in documents.PAGES.read_text(encoding="utf-8").splitlines()]
    for one in ALL:
        if one.source == "papers":
            assert one.document.removesuffix(".pdf") in documents.PAPERS, one.id
        else:
            paths = [path for package, path in pages if package == one.source]
            assert any(path.endswith(f"/{one.document}") for path in paths), one.id


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The limit is 32 columns.", []),
        ("The limit is 320 columns.", ["lacks 32"]),
    ],
)
def test_an_expected_word_that_the_document_lacks_is_a_problem(text: str, found: list[str]) -> None:
    asked = TextQuestion("x-1", "real_text", "fact", "How many?", True, (("32",),), document="a.html")
    assert questions.problems(asked, {"/of/a.html": text, "/of/b.html": "32"}) == found


def test_an_unanswerable_question_is_one_as_long_as_no_paragraph_holds_its_words_together() -> None:
    asked = TextQuestion("x-2", "real_text", "fact", "How many in 9.6?", False, absent=(("9.6", "columns"),))
    assert questions.problems(asked, {"/a": "Columns of an index.\n\nSince 9.6 it is faster."}) == []
    assert len(questions.problems(asked, {"/a": "Up to 31 columns in 9.6."})) == 1
