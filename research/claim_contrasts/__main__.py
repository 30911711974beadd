"""Writes groups of claims that are contrasts of each other, for the checker.

    .venv/bin/python -m research.claim_contrasts --out training/claim_contrasts.jsonl    # two minutes of one core

Rows of the shape of `research.checker_data`, with the `group` of contrasts that a row is of, the `family` that is held
back as one (a title, a table, a rule, a document) and how many `times` a group is drawn. Two kinds:

* `published`: 22 sets of data/train/claims_contrast, each with its cap and its weight;
* made by rule from real passages, sources `made KIND`: a false claim has a twin that is as true as the sentence it is
  made of and has words of its own: `swaps` (numbers, names, words, subjects of the same passage), `markers` (how many,
  how surely, except what, planned or done), `clauses` (roles, comparisons, conditions, reasons, ranges), `tables`,
  `headings`.

It prints what every source has, and how much of the label the claim alone gives away (area under the curve of a bag of
words). Of what gives away more than `GIVEN_AWAY` the groups are left out of which it says most, and if that does not
help no more than `CAP` rows stay.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from research.checker_data import SUPPORTED, Row
from research.claim_contrasts.base import Made, Small, fits, passages
from research.claim_contrasts.clauses import Clauses
from research.claim_contrasts.giveaway import giveaway, hardest
from research.claim_contrasts.headings import Headings
from research.claim_contrasts.markers import Markers
from research.claim_contrasts.published import USES, of_set, published
from research.claim_contrasts.swaps import Swaps
from research.claim_contrasts.tables import Tables
from research.claim_contrasts.wording import Wording
from research.contrasts import Lexicon

SEED = 47
TIMES = 4.0
"""How many passages are read, in caps of `research.checker_data`."""
SWAPPED = 0.35
"""Share of the passages of which words are swapped."""
LEARNED = 9_000
"""Passages from which is learned which words stand in like places."""
MOST = 2_400
"""Groups of a made kind."""
FEWER = {"made word": 1_500}
"""Of which one false claim in five is not false."""
GIVEN_AWAY, HARDEST, CAP, FEW = 0.65, 0.6, 1_500, 300
"""Of a few hundred rows the share says little."""


def made(draw: random.Random) -> Iterator[Made]:
    """Every contrast that is made of passages and tables."""
    every = passages(draw, TIMES)
    draw.shuffle(every)
    small = Small(one.text for one in every[: 2 * LEARNED])
    wording = Wording(small, draw)
    markers, clauses = Markers(wording, draw), Clauses(wording, small, draw)
    swaps = Swaps(Lexicon(one.text for one in every[:LEARNED]), wording, small, draw)
    for passage in every:
        yield from markers.of(passage)
        yield from clauses.of(passage)
        if draw.random() < SWAPPED:
            yield from swaps.of(passage)
    tables = {
        row.get("whole", row["text"]): None
        for rows in of_set("tabfact_pairs", USES["tabfact_pairs"]).values()
        for row in rows
    }
    yield from Tables(draw).of(tables)
    yield from Headings(draw).of()


def rows_of(groups: Iterable[Made], draw: random.Random) -> dict[str, list[list[Row]]]:
    """The rows of each group, by kind, so many groups of a kind at most."""
    found: dict[str, list[list[Row]]] = defaultdict(list)
    for number, group in enumerate(groups):
        if rows := list(group.rows(number)):
            found[rows[0]["source"]].append(rows)
    for kind, own in found.items():
        if len(own) > MOST:
            found[kind] = draw.sample(own, FEWER.get(kind, MOST))
    return found


def capped(groups: list[list[Row]], most: int) -> list[list[Row]]:
    """The first groups, so many rows."""
    kept, count = [], 0
    for rows in groups:
        if count < most:
            kept.append(rows)
            count += len(rows)
    return kept


def main() -> None:
    """Write the rows, in groups, shuffled by the seed, and print what there is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    began = time.monotonic()
    draw = random.Random(SEED)
    found = rows_of(made(draw), draw)
    filling = [s for one in passages(draw, 0.2) if one.title for s in one.sentences if fits(s)]
    draw.shuffle(filling)
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in published(filling, draw):
        by_group[row["group"]].append(row)
    for rows in by_group.values():
        found[rows[0]["source"]].append(rows)
    told: dict[str, object] = {}
    every: list[list[Row]] = []
    for source, groups in sorted(found.items()):
        draw.shuffle(groups)
        share = after = giveaway(groups)
        kept = groups
        if share > GIVEN_AWAY and sum(map(len, groups)) > FEW:
            kept = hardest(groups, HARDEST)
            after = giveaway(kept)
            kept = kept if after <= GIVEN_AWAY else capped(kept, CAP)
        every += kept
        labels = Counter(row["label"] for rows in kept for row in rows)
        both = sum(len({row["label"] == SUPPORTED for row in rows}) > 1 for rows in kept)
        made_rows = sum(map(len, groups))
        told[source] = {
            "given away": share,
            "then": after,
            "made": made_rows,
            "rows": labels.total(),
            "groups": len(kept),
            "both": both,
        } | dict(labels)
    draw.shuffle(every)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for rows in every for row in rows)
    for source, counts in told.items():
        print(f"{source}: {json.dumps(counts)}")
    print(json.dumps({"rows": sum(map(len, every)), "groups": len(every), "seconds": round(time.monotonic() - began)}))


if __name__ == "__main__":
    main()
