"""The real papers, read as a user would read them."""

from __future__ import annotations

import re
import time

import pytest

from tests.documents.making import DATA, PAPERS, needs_papers, read_all, read_paper, spans_hold
from tests.documents.making import Item as Input
from thresher.documents.cleaning import references_span
from thresher.types import Document

pytestmark = needs_papers


@pytest.fixture(scope="module")
def papers() -> dict[str, Document]:
    started = time.process_time()
    found = {path.name: read_paper(path.name) for path in sorted(PAPERS.glob("*.pdf"))}
    assert time.process_time() - started < 15
    return found


def test_every_paper_is_read_with_pages_a_title_and_a_date(papers: dict[str, Document]) -> None:
    assert len(papers) == 41
    for document in papers.values():
        spans_hold(document)
        assert len(document.pages) > 3
        assert len(document.title) > 10
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", document.date or "")


def test_two_copies_of_a_paper_are_one_document(papers: dict[str, Document]) -> None:
    assert papers["2005.11401.pdf"].id == papers["2005.11401-second-copy.pdf"].id
    adam = [document.id for name, document in papers.items() if name.startswith("Adam")]
    assert len(adam) == 2
    assert len(set(adam)) == 1
    assert len({document.id for document in papers.values()}) == 39


def test_reading_a_paper_twice_gives_the_same_document(papers: dict[str, Document]) -> None:
    assert read_paper("BERT.pdf") == papers["BERT.pdf"]


@pytest.mark.parametrize(
    ("name", "page", "sentence"),
    [
        (
            "BERT.pdf",
            1,
            "As a result, the pre-trained BERT model can be fine-tuned with just one additional output layer to create "
            "state-of-the-art models for a wide range of tasks, such as question answering and language inference, "
            "without substantial task-specific architecture modifications.",
        ),
        (
            "BERT.pdf",
            1,
            "the objective is to predict the original vocabulary id of the masked word based only on its context.",
        ),
        ("BERT.pdf", 2, "Left-to-right language modeling and auto-encoder objectives have been used for pre-training"),
        (
            "2005.11401.pdf",
            1,
            "We explore a general-purpose fine-tuning recipe for retrieval-augmented generation (RAG) — models which "
            "combine pre-trained parametric and non-parametric memory for language generation.",
        ),
        (
            "1512.03385.pdf",
            1,
            "Many other non-trivial visual recognition tasks [8, 12, 7, 32, 27] have also greatly benefited",
        ),
        (
            "Mixed_Precision_Training.pdf",
            2,
            "an FP16 copy of the master weights is used in the forward and backward pass",
        ),
        (
            "2301.11305.pdf",
            1,
            "we study the machine-generated text detection problem as a binary classification problem.",
        ),
    ],
)
def test_sentences_come_out_whole_on_the_right_page(
    papers: dict[str, Document], name: str, page: int, sentence: str
) -> None:
    document = papers[name]
    assert sentence in document.text
    assert document.page_at(document.text.index(sentence)) == page


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("Mixed_Precision_Training.pdf", "Published as a conference paper"),
        ("Recitation-Augmented_Language_Models.pdf", "Published as a conference paper"),
        ("2301.11305.pdf", "Zero-Shot Machine-Generated Text Detection using Probability Curvature"),
    ],
)
def test_running_heads_are_gone(papers: dict[str, Document], name: str, head: str) -> None:
    assert papers[name].text.count(head) <= 1


def test_no_paper_keeps_its_arxiv_stamp(papers: dict[str, Document]) -> None:
    for document in papers.values():
        assert not re.search(r"^arXiv:\d{4}\.\d{4,5}v\d+ \[", document.text, re.MULTILINE)


def test_no_paper_has_page_numbers_at_page_ends(papers: dict[str, Document]) -> None:
    for document in papers.values():
        ends = [document.text[page.start : page.end].rstrip().rsplit("\n", 1)[-1] for page in document.pages]
        numbered = sum(end == str(page.number) for end, page in zip(ends, document.pages, strict=True))
        assert numbered <= 1


def test_titles_are_those_of_the_papers(papers: dict[str, Document]) -> None:
    titles = {name: document.title for name, document in papers.items()}
    assert titles["BERT.pdf"] == "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"
    assert titles["2104.08663.pdf"].endswith("Benchmark for Zero-shot Evaluation of Information Retrieval Models")
    assert titles["GPT1.pdf"] == "Improving Language Understanding by Generative Pre-Training"
    assert titles["1512.03385.pdf"] == "Deep Residual Learning for Image Recognition"


def test_the_stamp_dates_a_paper_that_was_saved_again_later(papers: dict[str, Document]) -> None:
    assert papers["2005.11401.pdf"].date == "2021-04-12"


def test_the_main_results_of_bert_are_a_table(papers: dict[str, Document]) -> None:
    document = papers["BERT.pdf"]
    rows = [[document.text[start:end] for start, end in table.rows] for table in document.tables]
    (found,) = (table for table in rows if any(row.startswith("BERTLARGE 86.7/85.9") for row in table))
    assert found[0].startswith("System MNLI-(m/mm)")


def test_references_are_found_in_every_paper(papers: dict[str, Document]) -> None:
    spans = {name: references_span(document.text) for name, document in papers.items()}
    assert all(spans.values())
    start, end = spans["BERT.pdf"] or (0, 0)
    assert 0.5 < start / len(papers["BERT.pdf"].text) < end / len(papers["BERT.pdf"].text) < 0.8


def test_a_corpus_of_thousands_of_passages_streams_quickly() -> None:
    path = DATA / "wikipedia" / "corpus.jsonl"
    started = time.process_time()
    found = read_all(Input(path.as_posix(), path.as_posix(), path))
    assert time.process_time() - started < 3
    assert len(found) == 28_735
    assert all(isinstance(document, Document) for document in found)
