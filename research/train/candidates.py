"""The texts that the judge has to put in order: what `corrective` finds for the dev questions of benchmarks.real_text.

    .venv/bin/python -m benchmarks.real_text fetch
    .venv/bin/python -m research.train.candidates --home HOME --out CANDIDATES

Writes a JSON Lines file: the question, whether it is put to papers or manuals, whether it has an answer, and title,
text and `holds` (everything that is needed stands there) of its candidates. The part `aside` is never asked.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import thresher
from benchmarks.questions import rules
from benchmarks.real_text import documents, questions
from thresher.pipeline import keep_all
from thresher.recipes import derive

CANDIDATES, COLLECTION = 20, "real_text"


def main() -> None:
    """Index what is missing, and search."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--home", type=Path, default=documents.FOLDER / "home", help="home of benchmarks.real_text")
    arguments = parser.parse_args()
    with thresher.open(home=arguments.home, collection=COLLECTION) as collection:
        collection.add(*documents.sources(), recipe=["corrective"])
        unjudged = derive("corrective", judge=keep_all)
        with arguments.out.open("w", encoding="utf-8") as file:
            for one in questions.load():
                if one.part != "dev":
                    continue
                hits = collection.search(one.question, recipe=unjudged, limit=CANDIDATES).hits
                texts = [
                    {
                        "title": hit.chunk.title,
                        "text": hit.chunk.text,
                        "holds": bool(rules.holds(one, [f"{hit.chunk.title}\n{hit.chunk.text}"]))
                        and hit.chunk.source.endswith(f"/{one.document}"),
                    }
                    for hit in hits
                ]
                kind = "papers" if one.source == "papers" else "manuals"
                row = {"question": one.question, "kind": kind, "answerable": one.answerable, "texts": texts}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
