"""The promises on real papers, as a PDF reader gives them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.chunking.promises import assert_promises, document, hash_encoder
from tests.documents.making import needs_papers, read_paper
from thresher.chunking.fixed import FixedChunker, RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.types import Document
from thresher_methods.semantic import SemanticChunker

NAMES = ["2005.11401.pdf", "BERT.pdf"]

pytestmark = needs_papers


@pytest.fixture(scope="module", params=NAMES)
def paper(request: pytest.FixtureRequest) -> Document:
    read = read_paper(request.param)
    assert len(read.text) > 20_000
    return document(read.text, pages=read.pages)


def test_chunks_of_a_paper_keep_every_promise(paper: Document) -> None:
    assert_promises(paper, FixedChunker()(paper), size=900)
    assert_promises(paper, RecursiveChunker()(paper), size=1500)
    assert_promises(paper, SemanticChunker(hash_encoder, "hash", theta=0.5)(paper), size=500)
    chunks = HierarchicalChunker()(paper)
    assert_promises(paper, [chunk for chunk in chunks if chunk.level == "chunk"], size=2800)
    assert_promises(paper, [chunk for chunk in chunks if chunk.level == "subchunk"], size=300)


def test_estimates_of_a_paper_are_within_a_third_of_the_outcome(paper: Document) -> None:
    found = Counter(chunk.level for chunk in HierarchicalChunker()(paper))
    estimated = HierarchicalChunker().estimate(len(paper.text))
    assert found["chunk"] == pytest.approx(estimated["chunk"], rel=1 / 3)
    assert found["subchunk"] == pytest.approx(estimated["subchunk"], rel=1 / 3)
