"""Titles and first authors of the real papers against a reading of their first pages by eye."""

from __future__ import annotations

import re

import pytest

from tests.documents.making import PAPERS, needs_papers, read_paper

pytestmark = needs_papers

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


SOME = [row for row in TABLE if row[0] in ("BERT", "OLMo", "Attention")]


@pytest.mark.parametrize(("start", "title", "author"), SOME)
def test_a_paper_has_the_title_and_the_authors_of_its_first_page(start: str, title: str, author: str) -> None:
    document = read_paper(named(start))
    assert plain(document.title) == plain(title)
    assert str(document.metadata["author"]).startswith(author)


@pytest.mark.slow
def test_every_paper_has_the_title_and_the_first_author_of_its_first_page() -> None:
    assert len(TABLE) == 41
    documents = {start: read_paper(named(start)) for start, _, _ in TABLE}
    wrong = [start for start, title, _ in TABLE if plain(documents[start].title) != plain(title)]
    unnamed = [start for start, _, author in TABLE if not str(documents[start].metadata["author"]).startswith(author)]
    assert (wrong, unnamed) == ([], [])
