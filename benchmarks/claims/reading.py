"""What is read of the documents, by the engine of this checkout."""

from __future__ import annotations

from functools import cache

from benchmarks.claims.sets import Claim, path_of
from thresher.documents.read import parse
from thresher.documents.sources import Item, fetch
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import Document


@cache
def text_of(document: str) -> str:
    """The whole text of a document."""
    path = path_of(document)
    item = Item(source=str(path), root=str(path.parent), path=path)
    data, hints = fetch(item)
    return "\n\n".join(one.text for one in parse(item, data, hints) if isinstance(one, Document))


@cache
def sentences_of(document: str) -> list[str]:
    """Its sentences, their lines joined."""
    text = text_of(document)
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def share_in_one_sentence(claim: Claim) -> float:
    """Of the words of a claim, those that the sentence of its document with most of them has: the baseline."""
    words = term_set(claim.text)
    return max(len(words & term_set(sentence)) for sentence in sentences_of(claim.document)) / len(words)
