"""Ask an engine through its public interface, so that any version of it can stand on the path.

Reads JSON from standard input: home, recipe (empty for the default, `plain` for the baseline of the gate), sources
(collection to paths), questions (each with id, collection, question).
Writes a JSON object a line: what was shown, and every candidate with the judge's score. But for the baseline it
imports nothing else of this tree: `python -m benchmarks.quality --engine TREE` runs it with TREE/src in front.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

PLAIN = "plain"

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
    return {**kept, "shown": texts, "found": found}


def main() -> None:
    """Index what is not indexed, ask, and print."""
    import thresher

    given = json.load(sys.stdin)
    recipe = {"recipe": given["recipe"]} if given["recipe"] not in ("", PLAIN) else {}
    opened = {}
    for name, sources in given["sources"].items():
        opened[name] = thresher.open(given["home"], name)
        opened[name].add(*sources, **recipe)

    def asked(collection: Any, question: str) -> dict[str, Any]:
        return outcome(collection.ask(question, **recipe).to_dict(chunks=True))

    ask: Callable[[Any, str], dict[str, Any]] = asked
    if given["recipe"] == PLAIN:
        from benchmarks.quality.plain import Plain

        ask = Plain()
    for one in given["questions"]:
        told = ask(opened[one["collection"]], one["question"])
        print(json.dumps({"id": one["id"], **told}), flush=True)
    for collection in opened.values():
        collection.close()


if __name__ == "__main__":
    main()
