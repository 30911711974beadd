"""What a run reads, as one file of numbers: every question, title and text once, as tokens, and the groups and claims
over them. It is small enough to be carried to a machine with an accelerator, which needs torch, onnx and numpy.

    python -m research.train.pack --data DATA --claims CLAIMS --candidates CANDIDATES --out PACK.npz  # for the judge
    python -m research.train.pack --claims CLAIMS --out CLAIMS.npz                                    # for the checker
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from benchmarks.checker import NOT_STATED, cases
from benchmarks.planted_errors import Case
from research.checker_data import CONTRADICTED, SUPPORTED, UNVERIFIED, row_of
from research.export_encoder import PROJECT
from research.train.groups import Group, contrasts, held_back, held_back_groups, pages, streams
from research.training_texts import read
from thresher_training.network import LABELS
from thresher_training.tokens import tokens_of

TOKENIZER = PROJECT / "src/thresher/models/weights/thresher-judge-int8/tokenizer.json"
KEPT_TOKENS = 400
"""Of a text; of a question, title or claim the network reads fewer."""
POSITIVES, NEGATIVES, SPANS = 4, 16, 3
"""Texts and places of a group at most."""
TUNE_SLICE = 3
"""Of the fifths of a question set."""
SLICES = 2_000
"""Questions of the tune fifths, and claims kept back, that are measured."""
PAIR = ("question", "exchanged")
"""Over one text."""


class Texts:
    """Texts in the order in which they were first met."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The place of a text."""
        return self.places.setdefault(text, len(self.places))

    def tokens(self, tokenizer: tokenizers.Tokenizer) -> tuple[list[Any], NDArray[np.uint16], NDArray[np.int64]]:
        """The encodings, their tokens one behind the other, and where each begins."""
        encoded = tokenizer.encode_batch(list(self.places), add_special_tokens=False)
        kept = [one.ids[:KEPT_TOKENS] for one in encoded]
        ends = np.cumsum([0, *map(len, kept)])
        return encoded, np.fromiter((one for ids in kept for one in ids), np.uint16, int(ends[-1])), ends


class Packed:
    """Rows of numbers for the groups of one part."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.rows: list[dict[str, Any]] = []

    def add(self, stream: str, group: Mapping[str, Any]) -> None:
        """Keep a group: places of its texts, and the answers' places in letters."""
        add = self.texts.add
        question = group["question"]
        self.rows.append(
            {
                "stream": stream,
                "set": group["set"],
                "certain": group["certain"],
                "question": (add(question), add(as_typed(question))),
                "right": [self.place(one) for one in group["positives"][:POSITIVES]],
                "wrong": [self.place(one) for one in [*group["near"][:1], *group["negatives"]][:NEGATIVES]],
                "near": bool(group["near"]),
                "spans": [one["spans"][:SPANS] for one in group["positives"][:POSITIVES]],
            }
        )

    def place(self, passage: Mapping[str, Any]) -> tuple[int, int]:
        """Title and text of a passage."""
        return self.texts.add(passage["title"]), self.texts.add(passage["text"])

    def arrays(self, encoded: Sequence[Any]) -> dict[str, NDArray[Any]]:
        """The rows as arrays; -1 fills what is not there."""
        count = len(self.rows)
        right = np.full((count, POSITIVES, 2), -1, np.int32)
        wrong = np.full((count, NEGATIVES, 2), -1, np.int32)
        spans = np.full((count, POSITIVES, SPANS, 2), -1, np.int16)
        for at, row in enumerate(self.rows):
            right[at, : len(row["right"])] = np.array(row["right"], np.int32).reshape(-1, 2)
            wrong[at, : len(row["wrong"])] = np.array(row["wrong"], np.int32).reshape(-1, 2)
            for which, places in enumerate(row["spans"]):
                offsets = encoded[row["right"][which][1]].offsets
                found = [tokens_of(offsets, *place) for place in places]
                inside = [place for place in found if place and place[1] < KEPT_TOKENS]
                for nth, place in enumerate(inside):
                    spans[at, which, nth] = place
        return {
            "question": np.array([row["question"] for row in self.rows], np.int32),
            "right": right,
            "wrong": wrong,
            "spans": spans,
            "certain": np.array([row["certain"] for row in self.rows]),
            "near": np.array([row["near"] for row in self.rows]),
            "stream": np.array([row["stream"] for row in self.rows]),
            "set": np.array([row["set"] for row in self.rows]),
        }


def pairs(data: Path, texts: Texts) -> tuple[dict[str, NDArray[Any]], list[Any]]:
    """The pairs of `research.contrasts`, and the places of the answers in letters."""
    rows = [row for row in contrasts(data) if "exchanged" in row]
    sides = {name: [(texts.add(row[name]), texts.add(as_typed(row[name]))) for row in rows] for name in PAIR}
    found = {f"pairs.{name}": np.array(values, np.int32).reshape(-1, 2) for name, values in sides.items()}
    places = [(texts.add(row["title"]), texts.add(row["text"])) for row in rows]
    found["pairs.text"] = np.array(places, np.int32).reshape(-1, 2)
    for name in ("kind", "part", "set"):
        found[f"pairs.{name}"] = np.array([row[name] for row in rows], str)
    return found, [row["spans"][0] for row in rows]


def places_in_tokens(texts: NDArray[Any], letters: Sequence[Any], encoded: Sequence[Any]) -> NDArray[np.int16]:
    """(pairs, 1, 2) tokens of the answers; -1 where they are not read."""
    found = np.full((len(letters), 1, 2), -1, np.int16)
    for at, place in enumerate(letters):
        inside = tokens_of(encoded[texts[at, 1]].offsets, *place)
        if inside and inside[1] < KEPT_TOKENS:
            found[at, 0] = inside
    return found


def unlabelled(path: Path, texts: Texts) -> dict[str, NDArray[Any]]:
    """Questions, as they are and as people type them, with title and text of their candidates; -1 for none."""
    rows = read(path)
    most = max(len(row["texts"]) for row in rows)
    found = np.full((len(rows), most, 2), -1, np.int32)
    for at, row in enumerate(rows):
        for nth, one in enumerate(row["texts"]):
            found[at, nth] = texts.add(one["title"]), texts.add(one["text"])
    asked = [(texts.add(row["question"]), texts.add(as_typed(row["question"]))) for row in rows]
    return {"unlabelled.question": np.array(asked, np.int32), "unlabelled.texts": found}


def as_typed(question: str) -> str:
    """In lower case, without its question mark."""
    return question.lower().rstrip(" ?")


def claims_of(paths: Sequence[Path], texts: Texts) -> dict[str, NDArray[Any]]:
    """Claims with title, text, label and source, and whether they are only measured.

    These are one text of twenty, or one family, by hash, and the cases for choosing of `benchmarks.checker`. Contrasts
    of each other have the number of their group, others -1, and how often a group is drawn.
    """
    rows = [row for path in paths for row in read(path)]
    kept = [held_back(row.get("family") or row["text"]) for row in rows]
    for case in cases_for_choosing():
        label = SUPPORTED if not case.error else UNVERIFIED if case.error in NOT_STATED else CONTRADICTED
        rows.append(row_of(case.claim, case.title, " ".join(case.sentences), label, f"case {case.data}"))
    kept += [True] * (len(rows) - len(kept))
    found = [(texts.add(one["claim"]), texts.add(one["title"]), texts.add(one["text"])) for one in rows]
    names: dict[str, int] = {}
    return {
        "claims": np.array(found, np.int32),
        "claims.label": np.array([LABELS[row["label"]] for row in rows], np.int8),
        "claims.tune": np.array(kept),
        "claims.source": np.array([row["source"].split(":")[0] for row in rows]),
        "claims.group": np.array(
            [names.setdefault(row["group"], len(names)) if "group" in row else -1 for row in rows], np.int32
        ),
        "claims.times": np.array([row.get("times", 1.0) for row in rows], np.float32),
    }


def cases_for_choosing() -> list[Case]:
    """Those that are not final, without the fifths of SciFact and Climate-FEVER that are trained on."""
    trained_on = ("SciFact", "Climate-FEVER")
    return [one for one in cases(None) if not one.final and (one.data not in trained_on or one.slice == TUNE_SLICE)]


def measured(candidates: Path, data: Path) -> Iterable[tuple[str, Group]]:
    """What shows how good a judge is, none of it trained on: dev questions, groups held back, the tune fifths."""
    for row in read(candidates):
        sides: dict[bool, list[Any]] = {True: [], False: []}
        for text in row["texts"]:
            sides[text["holds"]].append({"title": text["title"], "text": text["text"], "spans": []})
        if sides[True] or not row["answerable"]:
            yield row["kind"], group_of(row["question"], sides[True], sides[False])
    for one in held_back_groups():
        yield "held back", one
    for one in pages(data):
        if held_back(one["question"]):
            yield "pages", one
    for one in random.Random(1).sample(tune := read(data / "tune.jsonl"), min(SLICES, len(tune))):
        yield f"tune {one['set']} {one['kind']}", {**one, "negatives": one["negatives"][:9], "near": one["near"][:1]}


def group_of(question: str, right: Sequence[Group], wrong: Sequence[Group]) -> Group:
    """A group of candidates."""
    sides = {"positives": list(right), "negatives": list(wrong), "near": []}
    return {"set": "", "kind": "passage", "question": question, **sides, "certain": True}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="what research.training_data wrote; without it claims alone")
    parser.add_argument(
        "--claims",
        type=Path,
        nargs="*",
        default=[],
        help="what research.checker_data, .same_passage and .claim_contrasts wrote",
    )
    parser.add_argument("--candidates", type=Path, help="what research.train.candidates wrote")
    parser.add_argument("--unlabelled", type=Path, help="what research.teacher.unlabelled wrote")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = Texts()
    parts = {"train": Packed(texts), "tune": Packed(texts)}
    if arguments.data:
        for stream, groups in streams(arguments.data).items():
            for one in groups:
                parts["train"].add(stream, one)
        for stream, one in measured(arguments.candidates, arguments.data):
            parts["tune"].add(stream, one)
    arrays = claims_of(arguments.claims, texts)
    if arguments.unlabelled:
        arrays |= unlabelled(arguments.unlabelled, texts)
    letters: list[Any] = []
    if arguments.data:
        in_contrast, letters = pairs(arguments.data, texts)
        arrays |= in_contrast
    encoded, arrays["tokens"], arrays["ends"] = texts.tokens(tokenizer)
    if arguments.data:
        arrays["pairs.spans"] = places_in_tokens(arrays["pairs.text"], letters, encoded)
    for name, part in parts.items() if arguments.data else ():
        arrays |= {f"{name}.{key}": value for key, value in part.arrays(encoded).items()}
    with arguments.out.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    print(json.dumps({name: list(value.shape) for name, value in arrays.items()}))


if __name__ == "__main__":
    main()
