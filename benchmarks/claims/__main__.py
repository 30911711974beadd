"""How well a check tells a true sentence from a subtly false one about the same place.

    python -m benchmarks.claims [--part choose|final] [--engine TREE] [--json FILE]
    python -m benchmarks.claims --write                                             docs/results/claims.md

Printed by kind of error: how many true and false sentences are quoted, supported, unverified and contradicted
(q / s / u / c), the AUROC of the support, and the share of pairs whose true sentence has more support than its false
one, ties half; then the same of all, by half, of our documents and of the real pages, and of all where only their own
document is read; then the two numbers for shared words alone, and what becomes of sentences that nothing states. Our
documents are one collection and the real pages another. `--engine` asks another version of the engine, in a checkout of
its own. FILE gets all rows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.checker import calibration_error
from benchmarks.claims import asking
from benchmarks.claims.measures import HOLDS, Checked, auroc, states, supports, true_above_false
from benchmarks.claims.reading import share_in_one_sentence
from benchmarks.claims.sets import DOCUMENTS, FALSE, PARTS, TRUE, UNSTATED, Claim, claims, path_of, real
from benchmarks.machine import CACHE, ROOT, told_by
from benchmarks.seeds.rows import Provenance
from benchmarks.stale import footing

PAGE = ROOT / "docs" / "results" / "claims.md"
COMMAND = "python -m benchmarks.claims --write"
OF = ("src/thresher/verification", "src/thresher/models/weights", "benchmarks/claims")
MOST_WORDS = 160
"""Characters of the cited words that are printed."""

OPENING = """# True sentences and subtly false ones

<!-- Made by `python -m benchmarks.claims --write`; do not edit. -->

150 pairs of a true and a subtly false sentence about the same place of a document, ten of each kind of error, as a chat
model would write them, and 40 sentences that nothing states (benchmarks/claims). They are checked as `thresher check`
does; q / s / u / c: quoted, supported, unverified, contradicted. The bound from which a sentence is supported was
chosen on the half `choose` of the documents; the half `final` was read once. AUROC is of the support, true sentences
against false ones; *true above false* is the share of pairs, where chance is 50 %."""


def main() -> None:
    """Check, print the table and keep the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="the documents of one half")
    parser.add_argument("--engine", type=Path, default=ROOT, help="a checkout whose engine checks")
    parser.add_argument("--json", type=Path, help="a file for the rows")
    parser.add_argument("--write", action="store_true", help="write the page, of all claims")
    given = parser.parse_args()
    chosen = list(there([claim for claim in claims() if given.part in (None, claim.part) or given.write]))
    told = answers(chosen, given.engine)
    shown = "\n".join(table(chosen, told))
    print(shown)
    if given.json:
        rows = zip(chosen, told, strict=True)
        lines = (json.dumps({**asdict(claim), **found}, ensure_ascii=False) + "\n" for claim, found in rows)
        given.json.write_text("".join(lines), encoding="utf-8")
    if given.write:
        now = Provenance.now()
        PAGE.write_text(f"{OPENING}\n\n{shown}\n\n{footing(now.commit, now.date, COMMAND, OF)}\n", encoding="utf-8")


def there(every: Sequence[Claim]) -> Iterator[Claim]:
    """The claims about documents that are here; of the others it is printed how many they are."""
    missing = [claim for claim in every if not path_of(claim.document).is_file()]
    if missing:
        pages = len({claim.document for claim in missing})
        print(
            f"{len(missing)} sentences left out, {pages} real pages are not here: "
            "`python -m benchmarks.real_text fetch`, and THRESHER_DATA for the papers"
        )
    yield from (claim for claim in every if claim not in missing)


def answers(every: Sequence[Claim], engine: Path) -> list[dict[str, Any]]:
    """What the engine of a checkout says to each claim."""
    pages = {path_of(claim.document) for claim in claims() if real(claim.document)}
    sources = {"ours": sorted(DOCUMENTS.iterdir()), "real": sorted(page for page in pages if page.is_file())}
    order = {
        "home": str(CACHE / "claims" / engine.resolve().name),
        "sources": {name: list(map(str, paths)) for name, paths in sources.items() if paths},
        "claims": [
            {
                "collection": "real" if real(claim.document) else "ours",
                "source": str(path_of(claim.document)),
                "text": claim.text,
            }
            for claim in every
        ],
    }
    return [json.loads(line) for line in told_by(engine, Path(asking.__file__), order, "checking")]


def table(every: Sequence[Claim], told: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines that are printed."""
    rows = [Checked(claim, one["state"], one["support"]) for claim, one in zip(every, told, strict=True)]
    alone = [
        Checked(claim, one["alone"]["state"], one["alone"]["support"]) for claim, one in zip(every, told, strict=True)
    ]
    yield "| kind | pairs | true q / s / u / c | false q / s / u / c | AUROC | true above false |"
    yield "|---|---|---|---|---|---|"
    for kind in dict.fromkeys(claim.kind for claim in every if claim.label != UNSTATED):
        yield line(kind, [row for row in rows if row.claim.kind == kind])
    yield line("all", rows)
    for part in PARTS:
        if some := [row for row in rows if row.claim.part == part]:
            yield line(f"half `{part}`", some)
    for name, of_real in (("our documents", False), ("real pages", True)):
        if some := [row for row in rows if real(row.claim.document) is of_real]:
            yield line(name, some)
    yield line("all, their own document alone", alone)
    shared = [Checked(claim, "", share_in_one_sentence(claim)) for claim in every if claim.label != UNSTATED]
    yield f"| words shared with a sentence of the document | {len(shared) // 2} | | | {shares(shared)} |"
    yield ""
    for name, read in (("", rows), (", their own document alone", alone)):
        counts = states(read, UNSTATED)
        yield f"{sum(counts)} that nothing states{name}, q / s / u / c: {' / '.join(map(str, counts))}"
    pairs = [(row.support, row.claim.label == TRUE) for row in rows if row.claim.label != UNSTATED]
    yield f"expected calibration error of the support: {calibration_error(pairs):.3f}"
    yield "\nFalse and supported, with the words that were cited:\n"
    for row, found in zip(rows, told, strict=True):
        if row.claim.label == FALSE and row.state in HOLDS:
            words = " ".join(" ".join(found.get("words", ())).split())
            yield f"- {row.claim.kind}: {row.claim.text} ({found['support']:.2f}) [{words[:MOST_WORDS]}]"


def line(name: str, rows: Sequence[Checked]) -> str:
    """A line of the table."""
    counted = (" / ".join(map(str, states(rows, label))) for label in (TRUE, FALSE))
    return f"| {name} | {len(supports(rows, TRUE))} | {' | '.join(counted)} | {shares(rows)} |"


def shares(rows: Sequence[Checked]) -> str:
    """How far true sentences have more support than false ones: of all, and of the two of a pair."""
    return f"{auroc(supports(rows, TRUE), supports(rows, FALSE)):.2f} | {true_above_false(rows):.0%}"


if __name__ == "__main__":
    main()
