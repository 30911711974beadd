"""The real papers, read as a user would read them."""

from __future__ import annotations

import re
import time

import pytest

from tests.documents.making import DATA, PAPERS, needs_papers, read_all, read_paper, rows_of, spans_hold
from tests.documents.making import Item as Input
from thresher.documents.cleaning import references_span
from thresher.types import Document

pytestmark = needs_papers


SECOND_COPIES = {
    "2005.11401-second-copy.pdf": "2005.11401.pdf",
    "Adam_-_A_Method_for_Stochastic_Optimization.pdf": "Adam__A_Method_for_Stochastic_Optimization.pdf",
}
SOME = (
    "BERT.pdf",
    "GPT1.pdf",
    "1512.03385.pdf",
    "2104.08663.pdf",
    "2301.11305.pdf",
    "Mixed_Precision_Training.pdf",
    "Recitation-Augmented_Language_Models.pdf",
    *SECOND_COPIES,
    *SECOND_COPIES.values(),
)


def holds_what_a_paper_has(document: Document) -> None:
    """Pages without stamp, numbers and heads, a title, a date, references."""
    spans_hold(document)
    assert len(document.pages) > 3
    assert len(document.title) > 10
    assert re.fullmatch(r"\d{4}(-\d\d-\d\d)?", document.date or "")
    assert document.metadata["author"]
    assert not re.search(r"^arXiv:\d{4}\.\d{4,5}v\d+ \[", document.text, re.MULTILINE)
    ends = [document.text[page.start : page.end].rstrip().rsplit("\n", 1)[-1] for page in document.pages]
    assert sum(end == str(page.number) for end, page in zip(ends, document.pages, strict=True)) <= 1
    assert references_span(document.text) is not None
    assert document.text[: document.card].count("Published as a conference paper") <= 1


@pytest.mark.parametrize("name", SOME)
def test_a_paper_is_read_with_pages_a_title_a_date_and_references(name: str) -> None:
    holds_what_a_paper_has(read_paper(name))


def test_two_copies_of_a_paper_are_one_document() -> None:
    """Of the other pair the titles differ in case, and so do the cards."""
    copy, original = next(iter(SECOND_COPIES.items()))
    assert read_paper(copy).id == read_paper(original).id
    assert read_paper(copy).source != read_paper(original).source


def test_reading_a_paper_twice_gives_the_same_document() -> None:
    assert read_paper.__wrapped__("GPT1.pdf") == read_paper("GPT1.pdf")


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
    ],
)
def test_sentences_come_out_whole_on_the_right_page(name: str, page: int, sentence: str) -> None:
    document = read_paper(name)
    assert sentence in document.text
    assert document.page_at(document.text.index(sentence)) == page


def test_the_stamp_dates_a_paper_that_was_saved_again_later() -> None:
    assert read_paper("2005.11401.pdf").date == "2021-04-12"


def test_the_main_results_of_bert_are_a_table() -> None:
    document = read_paper("BERT.pdf")
    tables = [rows_of(document, number) for number in range(len(document.tables))]
    (found,) = (rows for rows in tables if any(row.startswith("| BERTLARGE | 86.7/85.9 | 72.1 |") for row in rows))
    assert found[0].startswith("| System | MNLI-(m/mm) 392k | QQP 363k |")


def test_the_references_of_bert_end_where_its_appendix_begins() -> None:
    text = read_paper("BERT.pdf").text
    start, end = references_span(text) or (0, 0)
    assert 0.5 < start / len(text) < end / len(text) < 0.8


@pytest.mark.slow
def test_a_corpus_of_thousands_of_passages_streams_quickly() -> None:
    path = DATA / "wikipedia" / "corpus.jsonl"
    started = time.process_time()
    found = read_all(Input(path.as_posix(), path.as_posix(), path))
    assert time.process_time() - started < 3
    assert len(found) == 28_735
    assert all(isinstance(document, Document) for document in found)


# --- titles and first authors as a person reads them on the first page ------------------------------------------------

FIRST_PAGES = """
1502.03167 | Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift | Sergey Ioffe
1512.03385 | Deep Residual Learning for Image Recognition | Kaiming He
2002.08909 | REALM: Retrieval-Augmented Language Model Pre-Training | Kelvin Guu
2004.04906 | Dense Passage Retrieval for Open-Domain Question Answering | Vladimir Karpukhin
2005.11401-second-copy | Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks | Patrick Lewis
2005.11401 | Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks | Patrick Lewis
2007.01282 | Leveraging Passage Retrieval with Generative Models for Open Domain Question Answering | Gautier Izacard
2010.11929 | An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale | Alexey Dosovitskiy
2104.08663 | BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models | Nandan Thakur
2210.11610 | Large Language Models Can Self-Improve | Jiaxin Huang
2301.11305 | DetectGPT: Zero-Shot Machine-Generated Text Detection using Probability Curvature | Eric Mitchell
2302.00083 | In-Context Retrieval-Augmented Language Models | Ori Ram
Adam_- | Adam: A Method for Stochastic Optimization | Diederik P. Kingma
Adam__ | Adam: A Method for Stochastic Optimization | Diederik P. Kingma
Attention | Attention Is All You Need | Ashish Vaswani
BERT | BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding | Jacob Devlin
DeepSeek-V2 | DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model | DeepSeek-AI
DeepSeek_R1 | DeepSeek-R1: Incentivizing Reasoning Capability in LLMs via Reinforcement Learning | DeepSeek-AI
Direct | Direct Preference Optimization: Your Language Model is Secretly a Reward Model | Rafael Rafailov
ELMo | Deep contextualized word representations | Matthew E. Peters
Efficient | Efficient Memory Management for Large Language Model Serving with PagedAttention | Woosuk Kwon
Fast | Fast Inference from Transformers via Speculative Decoding | Yaniv Leviathan
GPT1 | Improving Language Understanding by Generative Pre-Training | Alec Radford
GPT2 | Language Models are Unsupervised Multitask Learners | Alec Radford
GaLore | GaLore: Memory-Efficient LLM Training by Gradient Low-Rank Projection | Jiawei Zhao
Is_Cosine | Is Cosine-Similarity of Embeddings Really About Similarity? | Harald Steck
Jasper | Jasper and Stella: distillation of SOTA embedding models | Dun Zhang
Longformer | Longformer: The Long-Document Transformer | Iz Beltagy
Medusa | Medusa: Simple LLM Inference Acceleration Framework with Multiple Decoding Heads | Tianle Cai
Mixed | Mixed Precision Training | Sharan Narang
Mixtral | Mixtral of Experts | Albert Q. Jiang
NV-Embed | NV-Embed: Improved Techniques for Training LLMs as Generalist Embedding Models | Chankyu Lee
OLMo | OLMo: Accelerating the Science of Language Models | Dirk Groeneveld
Recitation | Recitation-Augmented Language Models | Zhiqing Sun
Scaling | Scaling Instruction-Finetuned Language Models | Hyung Won Chung
Switch | Switch Transformers: Scaling to Trillion Parameter Models with Simple and Efficient Sparsity | William Fedus
Train_Short | Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation | Ofir Press
Training | Training language models to follow instructions with human feedback | Long Ouyang
XLNet | XLNet: Generalized Autoregressive Pretraining for Language Understanding | Zhilin Yang
YaRN | YaRN: Efficient Context Window Extension of Large Language Models | Bowen Peng
ZeRO | ZeRO: Memory Optimizations Toward Training Trillion Parameter Models | Samyam Rajbhandari
"""
"""How the name of each file begins, the title and the first author as its first page prints them."""

TABLE = [tuple(cell.strip() for cell in line.split("|")) for line in FIRST_PAGES.strip().splitlines()]


def plain(title: str) -> str:
    """The words of a title: some pages set it in capitals, one has a picture before its colon."""
    return " ".join(re.findall(r"\w+", title.lower()))


def named(start: str) -> str:
    """The file whose name begins so; where there are two, the one that is called just that."""
    names = sorted(path.name for path in PAPERS.glob(f"{start}*.pdf"))
    return min(names, key=len)


@pytest.mark.slow
def test_every_paper_has_pages_and_references_and_the_title_and_first_author_of_its_first_page() -> None:
    assert len(TABLE) == 41
    documents = {start: read_paper(named(start)) for start, _, _ in TABLE}
    for document in documents.values():
        holds_what_a_paper_has(document)
    assert len({document.id for document in documents.values()}) == 40
    wrong = [start for start, title, _ in TABLE if plain(documents[start].title) != plain(title)]
    unnamed = [start for start, _, author in TABLE if not str(documents[start].metadata["author"]).startswith(author)]
    assert (wrong, unnamed) == ([], [])
