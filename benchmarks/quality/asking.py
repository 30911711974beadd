"""Ask an engine through its public interface alone, so that any version of it can stand on the path.

Reads JSON from standard input: home, recipe (empty for the default), sources (collection to paths), questions (each
with id, collection, question).
Writes a JSON object a line: what was shown, and every candidate with the judge's score. It imports nothing else of this
tree: `python -m benchmarks.quality --engine TREE` runs it with TREE/src in front.
"""

from __future__ import annotations

import json
import sys
from typing import Any

JUDGED = ("trained", "trained, calibrated", "judge")
"""Names under which versions keep the judge's score of a chunk; all of them order alike."""


def outcome(answer: dict[str, Any]) -> dict[str, Any]:
    """What a person sees of an answer with its chunks, and what was found for it."""
    texts = [] if answer["abstained"] else [answer["text"], *(one["text"] for one in answer.get("alternatives", ()))]
    found = []
    for chunk in answer["chunks"]:
        score = next((chunk["scores"][name]["value"] for name in JUDGED if name in chunk["scores"]), None)
        found.append([score, chunk["text"]])
    kept = {name: answer.get(name) for name in ("verdict", "confidence", "certainty", "abstained", "reason", "state")}
    seconds = sum(step["seconds"] for step in answer["steps"])
    return {**kept, "shown": texts, "found": found, "seconds": seconds}


def main() -> None:
    """Index what is not indexed, ask, and print."""
    import thresher

    given = json.load(sys.stdin)
    opened, recipe = {}, {"recipe": given["recipe"]} if given["recipe"] else {}
    for name, sources in given["sources"].items():
        opened[name] = thresher.open(given["home"], name)
        opened[name].add(*sources, **recipe)
    for one in given["questions"]:
        answer = opened[one["collection"]].ask(one["question"], **recipe)
        print(json.dumps({"id": one["id"], **outcome(answer.to_dict(chunks=True))}), flush=True)
    for collection in opened.values():
        collection.close()


if __name__ == "__main__":
    main()
