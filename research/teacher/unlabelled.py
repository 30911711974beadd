"""Questions without labels for the teacher to score: headings and made questions, with what `corrective` finds.

    python -m research.teacher.unlabelled --home HOME --out unlabelled.jsonl DOCUMENTS ..

Writes a JSON object a line: the question, and title and text of its candidates as the engine cuts them. A document that
`benchmarks.real_text` asks is refused: what is measured is not read, not even without its answers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import thresher
from benchmarks.real_text import documents
from thresher.pipeline import keep_all
from thresher.recipes import derive
from thresher.types import Document
from thresher_evals.questions.question_maker import QuestionMaker

CANDIDATES, COLLECTION = 24, "unlabelled"
MADE = 6_000
"""Questions made of sentences, cells and forms; headings are taken as they come."""
FEWEST_WORDS, MOST_WORDS = 2, 12
"""Of a heading that is asked: one word alone asks nothing, a longer one is a sentence."""
SEED = 7


def headings(document: Document) -> Iterator[str]:
    """The headings of a document that could be asked, as they stand."""
    for mark in document.marks:
        if mark.kind == "heading" and FEWEST_WORDS <= len(mark.name.split()) <= MOST_WORDS:
            yield mark.name


def asked(read: Sequence[Document]) -> list[str]:
    """The questions, each once."""
    found = dict.fromkeys(heading for document in read for heading in headings(document))
    made = QuestionMaker(read, seed=SEED).made(MADE, brief=True)
    return [*(found | dict.fromkeys(one.made.brief for one in made))]


def main() -> None:
    """Index what is missing, make questions, search."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("documents", type=Path, nargs="+", help="files and folders")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    measured = {path.resolve() for path in documents.sources()}
    with thresher.open(arguments.home, COLLECTION) as collection:
        collection.add(*arguments.documents, recipe=["corrective"])
        records = collection.documents()
        if known := [one.source for one in records if Path(one.source).resolve() in measured]:
            sys.exit(f"{known[0]}: benchmarks.real_text asks this document; leave it out")
        unjudged = derive("corrective", judge=keep_all)
        with arguments.out.open("w", encoding="utf-8") as file:
            for question in asked([collection.document(one.id) for one in records]):
                hits = collection.search(question, recipe=unjudged, limit=CANDIDATES).hits
                texts = [{"title": hit.chunk.title, "text": hit.chunk.text} for hit in hits]
                file.write(json.dumps({"question": question, "texts": texts}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
