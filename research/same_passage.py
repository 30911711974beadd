"""Claims with a name or a number that the same passage has elsewhere, beside the true ones, for the checker.

    .venv/bin/python -m research.same_passage --out DATA/same_passage.jsonl

Rows of the shape of `research.checker_data`, of texts of data/train alone. A claim is a sentence of a passage, at times
shortened. Of the other rows it has one `number` or `name` replaced by one of the same shape of another sentence, or two
of its own that are not one list `exchanged`; each of these stands beside its true claim, over the same text, which
holds both.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from benchmarks.planted_errors import NAME, NUMBER, sentences_of, shape
from research.checker_data import NOT_SUPPORTED, PASSAGES, SUPPORTED, WORDS, Row, row_of, shortened
from research.train.groups import rows as lines

SEED = 41
TABLE = re.compile(r"\n| \| |^\S+$")
"""In what is no sentence: several lines, cells, one word."""
SENTENCES = 2
"""Of a passage at most."""
LIST = re.compile(r",? (?:and|or) |, ")
NUMBERED = re.compile(r"^\d+\. ")
"""The number of a step, not of the sentence."""
PART = re.compile(r"(?:[A-Z]\S* (?!and|or)[a-z]{2,3} |[-\w\[])$"), re.compile(r" (?!and|or)[a-z]{2,3} [A-Z]|[-\w]")
"""Before and behind a match that is part of a longer name, or the number of a note."""
PATTERNS = {"number": NUMBER, "name": NAME}


def changed(claim: str, elsewhere: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """The claim with what stands elsewhere, or with two of its own exchanged, and the way."""
    for way, pattern in PATTERNS.items():
        own = [match for match in pattern.finditer(claim) if not is_part(match)]
        draw.shuffle(own)
        for match in own:
            if fitting := [one for one in dict.fromkeys(pattern.findall(elsewhere)) if fits(one, match[0], claim)]:
                new = draw.choice(fitting)
                yield way, claim[: match.start()] + new + claim[match.end() :]
                break
        pairs = [pair for pair in combinations(sorted(own, key=re.Match.start), 2) if fits(pair[0][0], pair[1][0])]
        draw.shuffle(pairs)
        for first, second in pairs:
            between = claim[first.end() : second.start()]
            turned = claim[: first.start()] + second[0] + between + first[0] + claim[second.end() :]
            if not LIST.search(between):
                yield "exchanged", turned
                break


def is_part(match: re.Match[str]) -> bool:
    """Whether a match is part of a longer name or number."""
    before, behind = PART
    return bool(before.search(match.string, 0, match.start()) or behind.match(match.string, match.end()))


def fits(one: str, other: str, claim: str = "") -> bool:
    """Whether one may be mistaken for another that it is not: the same shape, nothing in common, not in the claim."""
    words = set(one.replace(",", "").split()) & set(other.replace(",", "").split())
    return shape(one) == shape(other) and not words and not re.search(rf"\b{re.escape(one)}\b", claim)


def made(draw: random.Random) -> Iterator[Row]:
    """The rows of every set of passages."""
    for name, most in PASSAGES.items():
        titles = {one["passage"]: one.get("title", "") for one in lines(name)}
        for text in draw.sample(list(titles), min(most, len(titles))):
            sentences = sentences_of(text)
            fitting = [
                one
                for one in sentences
                if WORDS[0] <= len(one) <= WORDS[1] and one[-1:] in ".!" and not TABLE.search(one)
            ]
            for sentence in draw.sample(fitting, min(SENTENCES, len(fitting))):
                claim = NUMBERED.sub("", shortened(sentence, draw))
                right = row_of(claim, titles[text], text, SUPPORTED, "same passage: true")
                elsewhere = " ".join(one for one in sentences if one != sentence and one in right["text"])
                if sentence not in right["text"]:  # of a long text a part is read
                    continue
                found = [(way, other) for way, other in changed(claim, elsewhere, draw) if other not in text]
                for way, other in found:
                    yield {**right, "claim": other, "label": NOT_SUPPORTED, "source": f"same passage: {way}"}
                if found:
                    yield right


def main() -> None:
    """Write the rows, shuffled by the seed, and print how many there are of each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    draw = random.Random(SEED)
    rows = list(made(draw))
    draw.shuffle(rows)
    with arguments.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(json.dumps(Counter(row["source"] for row in rows), indent=1))


if __name__ == "__main__":
    main()
