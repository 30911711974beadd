"""The sets of claims_contrast as rows: how many of each, how often, and what is put around texts of one sentence."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tokenizers

from benchmarks.machine import DATA, ROOT
from research.checker_data import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, UNVERIFIED, Row, nearest
from research.contrasts import content

TOKENIZER = ROOT / "src/thresher/models/weights/thresher-judge-int8/tokenizer.json"
LABELS = {"supports": SUPPORTED, "denies": CONTRADICTED, "neither": UNVERIFIED}


@dataclass(frozen=True)
class Use:
    """How a set is used."""

    most: int = 100_000
    """Rows at most, in whole groups."""
    times: float = 1.0
    """How often a group is drawn."""
    around: float = 0.0
    """Share of the groups around whose texts other sentences are put."""
    tokens: int = 205
    """Of a text at most, where it cannot be shortened: tables, rules with a case."""


USES = {
    "vitaminc_real": Use(times=1.5, around=0.55),
    "vitaminc_synthetic": Use(16_000, around=0.55),
    "tabfact_pairs": Use(),
    "infotabs": Use(14_000),
    "sharc": Use(times=3),
    "tabfact": Use(4_000),
    "condaqa": Use(),
    "sufficient_facts": Use(),
    "fever_symmetric": Use(around=0.5),
    "cad_snli": Use(4_500, around=0.2),
    "negnli": Use(2_500, around=0.3),
    "evidence_inference": Use(1_500, 0.5),
    "contractnli": Use(1_500, 0.5),
    "conjnli": Use(2_000, 0.5, around=0.5),
    "boardgameqa": Use(1_000, 0.5),
    "breaking_nli": Use(1_500, 0.5, around=0.2),
    "scone": Use(1_200, 0.5, around=0.2),
    "med": Use(1_500, 0.5, around=0.3),
    "help_and_or": Use(800, 0.5, around=0.3),
    "timeqa": Use(times=1.0),
    "folio": Use(600, 0.5),
    "gqnli": Use(times=0.5),
}
"""Of `fever_adversarial`, where no group has two labels, nothing is used."""
TITLED = ("vitaminc_real", "vitaminc_synthetic")
WHOLE = ("tabfact_pairs", "tabfact", "infotabs", "sharc", "boardgameqa", "folio", "timeqa")
"""Sets whose texts are read whole or not at all."""
MOST_OF_A_GROUP = 9
"""Larger ones are parted."""


def published(filling: Sequence[str], draw: random.Random) -> Iterator[Row]:
    """The rows of every set that is used; `filling` are sentences that are put around others."""
    for name, use in USES.items():
        groups = of_set(name, use)
        names = sorted(groups)
        draw.shuffle(names)
        count = 0
        chunks = [
            (f"{group} {start}".removesuffix(" 0"), groups[group][start : start + MOST_OF_A_GROUP])
            for group in names
            for start in range(0, len(groups[group]), MOST_OF_A_GROUP)
        ]
        for group, rows in chunks:
            if count >= use.most:
                break
            count += len(rows)
            around = sentences_around(rows, filling, draw) if draw.random() < use.around else ("", "")
            for row in rows:
                text = " ".join(part for part in (around[0], row["text"], around[1]) if part)
                if name in TITLED:
                    text = f"{readable(row['title'])}. {text}"
                elif name not in WHOLE:
                    text = nearest(row["claim"], text)
                yield {
                    "claim": row["claim"],
                    "title": "",
                    "text": text,
                    "label": NOT_SUPPORTED if row.get("coarse") and row["label"] == "neither" else LABELS[row["label"]],
                    "source": name,
                    "group": f"{name} {group}",
                    "family": family_of(name, row),
                    "times": use.times,
                }


def of_set(name: str, use: Use) -> Mapping[str, list[dict[str, Any]]]:
    """The rows of a set by group, tables by table and pair; texts that are too long and may not be shortened go."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(DATA / "train/claims_contrast" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if name == "boardgameqa" and not row["group"].startswith("boardgameqa/1/"):
                continue
            if name == "conjnli" and row.get("built") and re.search(r"\bor\b", row["claim"]):
                continue
            found[f"{row['group']} {row.get('pair', '')}".strip()].append(row)
    if name == "breaking_nli":
        return {group: rows for group, rows in found.items() if len({row["label"] for row in rows}) > 1}
    return read_whole(found, use.tokens, tables=name.startswith("tabfact")) if name in WHOLE else found


def read_whole(
    groups: Mapping[str, list[dict[str, Any]]], most: int, *, tables: bool
) -> Mapping[str, list[dict[str, Any]]]:
    """The groups whose texts have so many tokens at most, and of larger tables the rows that a pair of claims names."""
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_truncation()
    known: dict[str, int] = {}

    def size(text: str) -> int:
        if text not in known:
            known[text] = len(tokenizer.encode(text).ids)
        return known[text]

    found: dict[str, list[dict[str, Any]]] = {}
    for group, rows in groups.items():
        short = [row for row in rows if size(row["text"]) <= most]
        if tables and not short and len(rows) == 2:
            text = named_rows(rows[0]["text"], [row["claim"] for row in rows])
            if text and size(text) <= most:
                short = [{**row, "text": text, "whole": row["text"]} for row in rows]
        if short:
            found[group] = short
    return found


OF_ALL_ROWS = re.compile(
    r"\b(?:\w+est|most|least|only|average|total|sum|all|none|no|never|first|last|number|times|each|every|more|less|fewer"
    r"|same|both|any|best|worst|always|combined|two|three|four|five|six|seven|eight|nine|ten|\d of|top|final|than"
    r"|second|third|before|after|between|later|earlier|until|since|there (?:is|are|be|were))\b"
)
"""In claims that are not about single rows."""


def named_rows(text: str, claims: Sequence[str]) -> str:
    """The caption and the rows with all words of claims that the table has; "" if that are too many, or all count."""
    if any(OF_ALL_ROWS.search(claim) for claim in claims):
        return ""
    caption, *rows = text.split("\n")
    words = [content(row) for row in rows]
    wanted = frozenset().union(*map(content, claims))
    left = wanted & frozenset().union(*words) - content(caption)
    kept: set[int] = set()
    while left and len(kept) < 5:
        best = max(range(len(rows)), key=lambda at: (len(left & words[at]), -at))
        kept.add(best)
        left -= words[best]
    # Rows beside them as well, so that not all that is shown is told of.
    kept |= {at + 1 for at in sorted(kept)[:2] if at + 1 < len(rows)}
    return "\n".join([caption, *(rows[at] for at in sorted(kept))]) if not left and len(kept) > 1 else ""


def family_of(name: str, row: Mapping[str, Any]) -> str:
    """What is held back as one: a title, a table, a rule, else the group."""
    if "title" in row:
        return f"title {readable(row['title'])}"
    if name.startswith(("tabfact", "infotabs")):
        return str(row.get("whole", row["text"]))
    if name == "sharc":
        return str(row["text"].partition("\n\nThe case:")[0])
    return str(row["group"])


def readable(title: str) -> str:
    """A title of FEVER without its marks."""
    marks = {"-COLON-": ":", "-LRB-": "(", "-RRB-": ")", "_": " "}
    for mark, letter in marks.items():
        title = title.replace(mark, letter)
    return re.sub(r" :", ":", title)


def sentences_around(rows: Sequence[Mapping[str, Any]], filling: Sequence[str], draw: random.Random) -> tuple[str, str]:
    """Other sentences to stand before and behind the texts of a group: of other passages, on other things."""
    told = frozenset().union(*(content(row["claim"]) | content(row["text"]) for row in rows))
    sides: tuple[list[str], list[str]] = ([], [])
    start = draw.randrange(len(filling))
    wanted = draw.randint(1, 5)
    for at in range(start, start + 60):
        sentence = filling[at % len(filling)]
        if not content(sentence) & told and wanted > 0:
            sides[draw.random() < 0.5].append(sentence)
            wanted -= 1
    return " ".join(sides[0]), " ".join(sides[1])
