"""Every named set becomes questions, labels and a collection, whatever ids and numbers of lines its file has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thresher
from tests.real_data import DATA
from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Dataset, Gold
from thresher_evals.datasets.qa import QUESTIONS
from thresher_evals.datasets.records import Articles
from thresher_evals.datasets.registry import load
from thresher_evals.runner import collection_of, files, outside_of

Write = Callable[[Path, list[Any]], Path]


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of the machine is not looked into, except where a test names one."""
    monkeypatch.delenv("THRESHER_DATA", raising=False)


def texts(dataset: Dataset, origin: Origin = Origin.INSIDE) -> list[str]:
    return [passage.text for passage in dataset.corpora[origin].passages]


def quoted(dataset: Dataset, place: Gold) -> str:
    """What stands at a gold passage."""
    (passage,) = [one for one in dataset.corpora[Origin.INSIDE].passages if one.id == place.source]
    return passage.text[place.start : place.end]


# --- collections out of lines -----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from("AB"), st.text(min_size=1).filter(str.strip)), min_size=1))
def test_every_sentence_stands_in_its_article_where_its_place_says(sentences: list[tuple[str, str]]) -> None:
    articles = Articles()
    places = [articles.add(title, sentence) for title, sentence in sentences]
    passages = {passage.id: passage for passage in articles.corpus.passages}
    assert len(passages) == len({title for title, _ in sentences})
    for (title, sentence), place in zip(sentences, places, strict=True):
        passage = passages[place.source]
        assert (passage.title, passage.text[place.start : place.end]) == (title, sentence)


# --- options and labels -----------------------------------------------------------------------------------------------

PLANET = {"id": "p1", "question": "Which is a planet?"}
TEXTS = ["the Moon", "Mars", "the Sun"]


def test_contexts_of_all_choices_are_one_collection_and_without_any_the_named_one_is_asked(
    tmp_path: Path, write_lines: Write
) -> None:
    line = {**PLANET, "labels": ["yes", "no"], "answer": "no"}
    alone = load(f"choice:{write_lines(tmp_path / 'alone.jsonl', [line])}")
    assert (alone.corpora, collection_of(alone)) == ({}, "default")
    lines = [{**line, "contexts": ["Mars is red.", " "]}, {**line, "id": "p2", "contexts": ["Mars is red.", "Io."]}]
    assert texts(load(f"choice:{write_lines(tmp_path / 'with.jsonl', lines)}")) == ["Mars is red.", "Io."]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, r"c\.jsonl:1: no 'choices' and no 'labels'"),
        ({"choices": {"A": "one", "B": "two"}, "answer": "C"}, r"c\.jsonl:1: the answer 'C' is none of the options"),
        ({"choices": {"A": "one"}, "answer": "A"}, "fewer than two options"),
        ({"labels": ["a", "a"], "answer": "a"}, "two of the same name"),
        ({"choices": {"A": "one", "B": " "}, "answer": "A"}, "a choice has no text, or no label"),
        ({"choices": {"A": "one", "B": 2}, "answer": "A"}, "'choices' is not a list of texts"),
        ({"choices": {"text": ["one", "two"], "label": ["A"]}, "answer": "A"}, "a choice has no text, or no label"),
        ({"choices": {str(n): f"number {n}" for n in range(9)}, "answer": "1"}, "9 choices; give 8 at most"),
        ({"labels": ["yes", "no"], "answer": None}, "'answer' is not a text"),
    ],
)
def test_a_choice_that_cannot_be_is_named(
    tmp_path: Path, write_lines: Write, change: dict[str, Any], message: str
) -> None:
    path = write_lines(tmp_path / "c.jsonl", [{**PLANET, "answer": "A", **change}])
    with pytest.raises(UsageError, match=message):
        load(f"choice:{path}")


def test_arc_has_its_contexts_inside_and_outside(tmp_path: Path, write_lines: Write) -> None:
    choices = {"text": TEXTS, "label": ["A", "B", "C"]}
    lines = [
        {**PLANET, "choices": choices, "answer": "B", "internal": "Mars // a planet.", "web": ""},
        {**PLANET, "id": "p2", "choices": choices, "answer": "B", "internal": "Mars // a planet.", "web": "Io."},
    ]
    dataset = load(f"arc:{write_lines(tmp_path / 'questions.jsonl', lines)}")
    assert (texts(dataset), texts(dataset, Origin.OUTSIDE)) == (["Mars // a planet."], ["Io."])
    name = collection_of(dataset)
    assert name.startswith("arc-questions-")
    assert outside_of(dataset, name) == f"collection:{name}-outside"


CLAIM = {"claim_id": "c1", "claim": "Tea cures all.", "label": "false", "explanation": "It does not."}


def test_pubhealth_asks_for_the_labels_that_occur_and_says_that_its_evidence_tells_them(
    tmp_path: Path, write_lines: Write
) -> None:
    unproven = {"id": "c2", "claim": "Tea helps.", "label": "unproven", "explanation": ""}
    dataset = load(f"pubhealth:{write_lines(tmp_path / 'claims.jsonl', [CLAIM, unproven])}")
    first, second = dataset.questions
    assert first.question.startswith("Claim: Tea cures all.")
    assert first.question.endswith("Answer with one of these labels: false, unproven.")
    assert (first.options, first.answers, first.category) == (("false", "unproven"), ("false",), "false")
    assert [quoted(dataset, place) for place in first.gold] == ["It does not."]
    assert second.gold == ()
    assert "oracle evidence" in dataset.note
    assert "1 of 2 here" in dataset.note


def test_climate_fever_has_a_passage_for_each_article_and_gold_sentences_that_decide(
    tmp_path: Path, write_lines: Write
) -> None:
    def evidence(article: str, sentence: str, label: str) -> dict[str, str]:
        return {"article": article, "evidence": sentence, "evidence_label": label}

    ice, snow = "Ice melts at 0 °C.", "Snow is white."
    lines = [
        {
            "claim_id": "0",
            "claim": "Ice melts.",
            "claim_label": "SUPPORTS",
            "evidences": [evidence("Ice", ice, "SUPPORTS"), evidence("Snow", snow, "NOT_ENOUGH_INFO")],
        },
        {
            "claim_id": "1",
            "claim": "Ice is black.",
            "claim_label": "DISPUTED",
            "evidences": [evidence("Ice", "Ice is clear.", "REFUTES"), evidence("Ice", ice, "NOT_ENOUGH_INFO")],
        },
    ]
    dataset = load(f"climate-fever:{write_lines(tmp_path / 'claims.jsonl', lines)}")
    assert texts(dataset) == [f"{ice}\nIce is clear.", snow]
    first, second = dataset.questions
    assert [quoted(dataset, place) for place in (*first.gold, *second.gold)] == [ice, "Ice is clear."]
    assert (second.answers, second.options) == (("DISPUTED",), ("SUPPORTS", "DISPUTED"))


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        ("pubhealth", {**CLAIM, "label": "maybe"}, r"x\.jsonl:1: 'label' is 'maybe'; it must be one of true, false"),
        ("climate-fever", {**CLAIM, "claim_label": "SUPPORTS"}, r"x\.jsonl:1: 'evidences' is not a list of objects"),
        ("multihop", {**PLANET, "evidence_list": ["a"], "answer": "b"}, "'evidence_list' is not a list of objects"),
        ("multihop", {**PLANET, "evidence_list": [], "answer": ""}, "'answer' is not a text"),
        ("clapnq", {**PLANET, "passages": [{"title": "t"}], "output": []}, "'text' is not a text"),
        ("clapnq", {**PLANET, "passages": []}, "'output' is not a list of objects"),
        ("popqa-longtail", {**PLANET, "internal": 3}, "'internal' is not a text"),
        ("asqa", {**PLANET, "qa_pairs": "none"}, "'qa_pairs' is not a list of objects"),
        ("squad", {**PLANET, "title": "t"}, "'context' is not a text"),
    ],
)
def test_a_line_that_lacks_what_its_set_needs_is_named(
    tmp_path: Path, write_lines: Write, kind: str, line: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load(f"{kind}:{write_lines(tmp_path / 'x.jsonl', [line])}")


# --- questions with passages ------------------------------------------------------------------------------------------


def test_popqa_longtail_has_the_gold_that_its_inside_context_holds(tmp_path: Path, write_lines: Write) -> None:
    lines = [
        {
            "id": "0",
            "question": "What is Ada Moor's occupation?",
            "answers": ["painter"],
            "subject": "Ada Moor",
            "title": "Ada Moor (artist)",
            "internal": "She was a painter.",
            "web": "Ada: a painter.",
            "combined": "Both.",
        },
        {"id": "1", "question": "What is Bo's occupation?", "answers": ["cook"], "internal": "Pages.", "web": "  "},
    ]
    path = write_lines(tmp_path / "questions.jsonl", lines)
    dataset = load(f"popqa-longtail:{path}")
    first, second = dataset.questions
    assert [quoted(dataset, place) for place in first.gold] == ["She was a painter."]
    assert (first.group, second.gold, second.answerable) == ("Ada Moor", (), True)
    assert (texts(dataset), texts(dataset, Origin.OUTSIDE)) == (["She was a painter.", "Pages."], ["Ada: a painter."])
    assert {passage.title for passage in dataset.corpora[Origin.OUTSIDE].passages} == {"Ada Moor (artist)"}


def test_squad_has_spans_questions_without_answer_and_questions_of_which_none_is_told(
    squad: Path, write_lines: Write
) -> None:
    dataset = load(f"squad:{squad}")
    by_id = {question.id: question for question in dataset.questions}
    assert [quoted(dataset, place) for place in by_id["q1"].gold] == ["1702"]
    assert (by_id["q5"].answerable, by_id["q5"].gold, by_id["q5"].category) == (False, (), "unanswerable")
    assert (dataset.task, len(texts(dataset)), dataset.categories) == ("ask", 4, {"answerable": 5, "unanswerable": 1})
    lines = [json.loads(line) for line in squad.read_text().splitlines()]
    only = load(f"squad:{write_lines(squad, [{**line, 'answers': [], 'unanswerable': None} for line in lines])}")
    assert only.task == "search"
    assert [place.start for place in only.questions[0].gold] == [None]
    assert "6 of 6 questions have a paragraph" in only.note


def test_clapnq_has_the_selected_sentences_and_questions_that_their_passage_does_not_answer(
    tmp_path: Path, write_lines: Write
) -> None:
    text = "One thing . Another thing . A third ."
    passage = {"title": "Things", "text": text, "sentences": []}
    answer = {"answer": "Things, and others.", "selected_sentences": ["Another thing .", "A third ."]}
    lines = [
        {"id": 1, "question": "what?", "passages": [passage], "output": [answer, {**answer, "answer": "Others."}]},
        {"id": 2, "question": "who?", "passages": [passage], "output": [{"answer": "", "selected_sentences": []}]},
        {
            "id": 3,
            "question": "why?",
            "passages": [passage],
            "output": [{"answer": "So.", "selected_sentences": ["Gone ."]}],
        },
    ]
    dataset = load(f"clapnq:{write_lines(tmp_path / 'questions.jsonl', lines)}")
    first, second, third = dataset.questions
    assert first.answers == ("Things, and others.", "Others.")
    assert [quoted(dataset, place) for place in first.gold] == ["Another thing .", "A third ."]
    assert (second.answerable, second.answers, second.gold) == (False, (), ())
    assert [quoted(dataset, place) for place in third.gold] == [text]


def test_an_article_of_multihop_has_its_publisher_authors_and_day(tmp_path: Path, write_lines: Write) -> None:
    stated = {"source": "The Age", "author": "Ada Moor", "published_at": "2023-10-04T22:54:23+00:00"}
    facts = [{"title": "One", "fact": "Ada left.", **stated}, {"title": "Two", "fact": "Bo stayed.", "author": None}]
    line = {"id": "a", "question": "Who?", "answer": "Ada", "evidence_list": facts}
    corpus = load(f"multihop:{write_lines(tmp_path / 'questions.jsonl', [line])}").corpora[Origin.INSIDE]
    (tmp_path / "corpus.jsonl").write_bytes(corpus.content)
    with thresher.open(tmp_path / "home") as collection:
        collection.add(tmp_path / "corpus.jsonl")
        found = {one.title: (one.date, one.metadata) for one in collection.documents()}
    assert found["One"][0] == "2023-10-04"
    assert found["One"][1].items() >= {"source": "The Age", "author": "Ada Moor"}.items()
    assert "source" not in found["Two"][1]


def test_multihop_needs_all_its_facts_and_knows_when_there_are_none(tmp_path: Path, write_lines: Write) -> None:
    def fact(title: str, text: str) -> dict[str, str]:
        return {"title": title, "url": f"https://news.example/{title}", "fact": text}

    lines = [
        {
            "id": "a",
            "question": "Who?",
            "answer": "Ada",
            "question_type": "inference_query",
            "evidence_list": [fact("One", "Ada left."), fact("Two", "She came back.")],
        },
        {
            "id": "b",
            "question": "When?",
            "answer": "Yes",
            "question_type": "comparison_query",
            "evidence_list": [fact("One", "Bo stayed."), fact("One", "Ada left.")],
        },
        {
            "id": "c",
            "question": "Why?",
            "answer": "Insufficient information.",
            "question_type": "null_query",
            "evidence_list": [],
        },
    ]
    dataset = load(f"multihop:{write_lines(tmp_path / 'questions.jsonl', lines)}")
    assert texts(dataset) == ["Ada left.\nBo stayed.", "She came back."]
    first, second, third = dataset.questions
    assert [quoted(dataset, place) for place in first.gold] == ["Ada left.", "She came back."]
    assert len(first.relevance) == 2
    assert len(second.relevance) == 1
    assert (third.answerable, third.answers, third.category) == (False, (), "null_query")


# --- questions over a pool --------------------------------------------------------------------------------------------


def test_wikipedia_counts_the_first_gold_passage_of_a_subject_and_every_silver_one(popqa: Path, nq: Path) -> None:
    dataset = load(f"wikipedia:{popqa}")
    assert [[place.source for place in question.gold] for question in dataset.questions] == [["ada"], ["ben"], ["cato"]]
    assert [question.group for question in dataset.questions] == ["Ada Moor", "Ben Hill", "Cato Lund"]
    assert dataset.corpus == popqa.parent / "corpus.jsonl"
    without = load(f"wikipedia:{nq}").questions[2]
    assert (without.gold, without.answers, without.answerable) == ((), ("singer",), True)


def test_asqa_takes_every_short_answer_and_asks_the_pool_where_there_is_one(popqa: Path, write_lines: Write) -> None:
    pairs = [{"short_answers": ["Ada", "A. Moor"]}, {"short_answers": ["Ben", "Ada"]}]
    lines = [
        {"id": "1", "question": "Who?", "qa_pairs": pairs, "annotations": [{"long_answer": "Ada, or Ben."}]},
        {"id": "2", "question": "Where?", "all_short_answers": ["Oslo"]},
    ]
    dataset = load(f"asqa:{write_lines(popqa.parent / 'asqa.jsonl', lines)}")
    assert [question.answers for question in dataset.questions] == [("Ada", "A. Moor", "Ben"), ("Oslo",)]
    assert collection_of(dataset) == collection_of(load(f"wikipedia:{popqa}"))
    (popqa.parent / "corpus.jsonl").unlink()
    assert collection_of(load(dataset.spec)) == "default"


def test_biography_checks_facts_against_the_entity_s_own_page_or_all_that_was_retrieved(
    popqa: Path, write_lines: Write
) -> None:
    lines = [
        {"id": "a", "question": "Who is Ada Moor?", "entity": "ada moor", "retrieved_ids": ["ada", "ada2", "ship"]},
        {"id": "b", "question": "Who is Bo?", "entity": "Bo", "retrieved_ids": ["ben", "paint", "gone"]},
        {"id": "c", "question": "Who is Cy?", "entity": "Cy", "retrieved_ids": []},
    ]
    dataset = load(f"biography:{write_lines(popqa.parent / 'bio.jsonl', lines)}")
    pool = {passage.id: passage.text for passage in dataset.corpora[Origin.INSIDE].passages}
    assert list(pool) == ["ada", "ada2", "ship", "ben", "paint"]
    assert dataset.references == {"a": (pool["ada"], pool["ship"]), "b": (pool["ben"], pool["paint"])}
    assert [question.topic for question in dataset.questions] == ["ada moor", "Bo", "Cy"]
    assert dataset.questions[0].answers == ()
    assert "1 of 3 have passages of their own page" in dataset.note


# --- papers -----------------------------------------------------------------------------------------------------------


def test_the_questions_about_papers_come_along_and_the_papers_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"THRESHER_DATA is not set.*put them in the folder papers"):
        load("papers")
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"no folder .*papers"):
        load("papers")
    folder = tmp_path / "papers"
    folder.mkdir()
    with pytest.raises(UsageError, match=r"papers that the questions are about are missing: .*\.pdf, \.\.\."):
        load("papers")
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        for place in json.loads(line)["gold"]:
            (folder / place["source"]).touch()
    (folder / "broken").mkdir()
    (folder / "broken" / "torn.pdf").touch()
    (folder / "notes.txt").touch()
    dataset = load("papers", sample=3)
    assert (dataset.spec, dataset.corpus, len(dataset.questions)) == ("papers", folder, 3)
    assert collection_of(dataset) == "papers"
    asked = list(files(dataset, tmp_path, "papers", outside="none"))
    assert [file for file, _ in asked] == sorted(folder.glob("*.pdf"))
    assert {name for _, name in asked} == {"papers"}


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "arc").is_dir(), reason=f"needs real data: no {DATA}/arc (THRESHER_DATA)")
@pytest.mark.parametrize(
    ("spec", "questions", "gold", "inside", "outside"),
    [
        ("arc:arc/questions.jsonl", 579, 0, 568, 519),
        ("asqa:asqa/questions.jsonl", 493, 0, 0, 0),
        ("beir:cranfield", 225, 225, 0, 0),
        ("beir:scifact", 809, 809, 0, 0),
        ("biography:biography/questions.jsonl", 247, 0, 2457, 0),
        ("clapnq:clapnq/questions.jsonl", 303, 150, 303, 0),
        ("climate-fever:climate_fever/claims.jsonl", 785, 543, 840, 0),
        ("multihop:multihop_rag/questions.jsonl", 517, 517, 357, 0),
        ("popqa-longtail:popqa_longtail/questions.jsonl", 663, 372, 653, 656),
        ("pubhealth:pubhealth/claims.jsonl", 170, 170, 170, 0),
        ("refusal:squad/answered.jsonl", 220, 100, 195, 0),
        ("squad:squad/answered.jsonl", 2405, 1142, 259, 0),
        ("squad:squad/questions_only.jsonl", 5915, 5915, 570, 0),
        ("wikipedia:wikipedia/nq.jsonl", 520, 342, 0, 0),
    ],
)
def test_the_real_files_are_read(
    monkeypatch: pytest.MonkeyPatch, spec: str, questions: int, gold: int, inside: int, outside: int
) -> None:
    monkeypatch.setenv("THRESHER_DATA", str(DATA))
    kind, _, path = spec.partition(":")
    dataset = load(f"{kind}:{DATA / path}")
    passages = {origin: {one.id: one.text for one in corpus.passages} for origin, corpus in dataset.corpora.items()}
    assert len(dataset.questions) == questions
    assert sum(bool(question.gold) for question in dataset.questions) == gold
    assert [len(passages.get(origin, {})) for origin in (Origin.INSIDE, Origin.OUTSIDE)] == [inside, outside]
    for question in dataset.questions:
        assert not question.options or question.answers[0] in question.options
        for place in question.gold if passages else ():
            text = passages[Origin.INSIDE][place.source]
            assert place.start is None or 0 <= place.start < (place.end or 0) <= len(text)
