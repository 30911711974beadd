"""What a chat model as second reader changes: true and subtly false sentences that are supported, by who reads.

    python -m benchmarks.claims.second [--part choose|final]

Scripted readers: one that is right nine times in ten and copies the line of the evidence that decides, and two that
always say yes, without words and with the first words of the first passage. All read the controls rightly. *Both* is
`strict`: both must support.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import thresher
from benchmarks.claims.__main__ import there
from benchmarks.claims.sets import DOCUMENTS, FALSE, PARTS, TRUE, Claim, claims, pairs, path_of, real
from benchmarks.machine import CACHE
from thresher.answering.second_reader import CONTROLS, NOT_STATED, SUPPORTED, SecondReader
from thresher.collection.asking import CHECKED_PASSAGES
from thresher.models.cross_encoders import BUNDLED_CHECKER, BundledJudge
from thresher.recipes.check import passages
from thresher.testing.fakes import ScriptedModel
from thresher.text.terms import term_share
from thresher.types import Evidence
from thresher.verification.check import Checker
from thresher.verification.claims import Cited, Finding
from thresher.verification.windows import rows_in_words

Reads = Callable[[Claim, Sequence[Evidence]], tuple[str, str]]
"""The verdict and the words of a reader."""


def right_nine_times_in_ten(claim: Claim, evidence: Sequence[Evidence]) -> tuple[str, str]:
    """By a hash of the sentence wrong one time in ten."""
    errs = hashlib.sha256(claim.text.encode()).digest()[0] % 10 == 0
    supported = (claim.label == TRUE) is not errs
    decides = " ".join(next(row["decides"] for row in pairs() if row["id"] == claim.id))
    lines = [line for piece in evidence for line in re.split(r"\n|(?<=[.!?])\s", piece.text) if line.strip()]
    line = max(lines, key=lambda line: (term_share(decides, line), -len(line)))
    return (SUPPORTED, line) if supported else (NOT_STATED, "")


def yes_without_words(claim: Claim, evidence: Sequence[Evidence]) -> tuple[str, str]:
    """Supports everything."""
    return SUPPORTED, ""


def yes_with_any_words(claim: Claim, evidence: Sequence[Evidence]) -> tuple[str, str]:
    """Supports everything with the first words there are."""
    return SUPPORTED, " ".join(evidence[0].text.split()[:8])


READERS: dict[str, Reads] = {
    "right nine times in ten": right_nine_times_in_ten,
    "yes, without words": yes_without_words,
    "yes, with any words": yes_with_any_words,
}


def found(every: Sequence[Claim]) -> Iterator[tuple[Claim, Finding, Sequence[Evidence]]]:
    """What the check alone finds, in the passages that are retrieved for each claim."""
    home = str(CACHE / "claims" / "second")
    opened = {}
    pages = sorted({path_of(claim.document) for claim in claims() if real(claim.document)})
    for name, paths in (("ours", sorted(DOCUMENTS.iterdir())), ("real", [page for page in pages if page.is_file()])):
        opened[name] = thresher.open(home, name)
        opened[name].add(*paths)
    for claim in every:
        collection = opened["real" if real(claim.document) else "ours"]
        evidence = passages(collection.search(claim.text, limit=CHECKED_PASSAGES).hits)

        def documents(ids: Sequence[str], of: Any = collection) -> dict[str, Any]:
            return {one: of.document(one) for one in ids}

        check = Checker(BundledJudge(BUNDLED_CHECKER), documents, rows_in_words)
        (finding,) = check("", [Cited(claim.text)], evidence).each
        yield claim, finding, evidence
    for collection in opened.values():
        collection.close()


def told(reads: Reads, claim: Claim, finding: Finding, evidence: Sequence[Evidence], *, strict: bool) -> bool:
    """Whether a claim is supported with a second reader."""
    verdict, words = reads(claim, evidence)
    controls = {f"verdict_{at}": known for at, known in enumerate(CONTROLS.values(), start=2)}
    model = ScriptedModel(lambda system, user: json.dumps({"verdict_1": verdict, "words_1": words, **controls}))
    ((both,), _) = SecondReader(model, "auto", strict)([claim.text], [finding], evidence)
    return both.holds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="the documents of one half")
    part = parser.parse_args().part
    wanted = (one for one in claims() if one.label in (TRUE, FALSE) and part in (None, one.part))
    every = list(found(list(there(list(wanted)))))
    print("| second reader | true supported | false supported | both: true | both: false |\n|---|---|---|---|---|")
    none = [(claim, finding.holds) for claim, finding, _ in every]
    print(f"| none | {share(none, TRUE)} | {share(none, FALSE)} | | |")
    for name, reads in READERS.items():
        either, both = (
            [(claim, told(reads, claim, finding, evidence, strict=strict)) for claim, finding, evidence in every]
            for strict in (False, True)
        )
        cells = [share(rows, label) for rows in (either, both) for label in (TRUE, FALSE)]
        print(f"| {name} | {' | '.join(cells)} |")


def share(rows: Sequence[tuple[Claim, bool]], label: str) -> str:
    """How many of the claims of a label are supported, of how many."""
    held = [holds for claim, holds in rows if claim.label == label]
    return f"{sum(held)} of {len(held)}"


if __name__ == "__main__":
    main()
