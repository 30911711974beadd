"""Check claims with an engine through its public interface, so that any version of it can stand on the path.

Reads JSON from standard input: home, sources (collection to paths), claims (each with collection, source, text).
Writes a JSON object a claim: what the collection says to it, and what its document says alone. It imports nothing else
of this tree: `python -m benchmarks.claims --engine TREE` runs it with TREE/src in front.
"""

from __future__ import annotations

import json
import sys
from typing import Any

WORST_FIRST = ("contradicted", "unverified", "supported", "quoted")


def verdict(check: Any) -> dict[str, Any]:
    """Of a sentence that is taken apart: the worst state and the lowest support."""
    found = [(str(claim.state), claim.support) for claim in check.claims] or [("unverified", 0.0)]
    state = min((state for state, _ in found), key=WORST_FIRST.index)
    words = [citation.quote for claim in check.claims for citation in claim.citations]
    return {"state": state, "support": round(min(support for _, support in found), 5), "words": words}


def main() -> None:
    """Index what is not indexed, check, and print."""
    import thresher

    given = json.load(sys.stdin)
    opened = {}
    for name, sources in given["sources"].items():
        opened[name] = thresher.open(given["home"], name)
        opened[name].add(*sources)
    for one in given["claims"]:
        collection, text = opened[one["collection"]], one["text"]
        alone = collection.check(text, where=f"source = '{one['source']}'")
        print(json.dumps({**verdict(collection.check(text)), "alone": verdict(alone)}), flush=True)
    for collection in opened.values():
        collection.close()


if __name__ == "__main__":
    main()
