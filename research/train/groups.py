"""The questions that the judge is trained further on, each with texts that answer it and texts that do not.

Streams, as dictionaries of the shape of `research.training_texts.Group`:

* replay: what the bundled judge was made with (`research.training_data`);
* mined: questions of manuals with a passage and five of the same book that do not answer (`rel_*` of the folder
  `train` of the data);
* related: the other files of that name, on medicine, biology and Wikipedia;
* reader: questions with the place of the answer (`reader_*`); negatives are the near misses of the file, then the
  passages with most words of the question among those of the same title;
* people: of replay and reader, the questions of which people said that the passage they were asked of does not answer;
* pages: questions to handbooks with texts of the same page, if `research.page_negatives` wrote them;
* contrast: sentences that answer against those beside them, if `research.contrasts` wrote them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.machine import DATA
from research.training_texts import read

Group = dict[str, Any]

REPEATED = {"popqa": 2, "nq": 2, "triviaqa": 2, "popqa-longtail": 1, "asqa": 0.5, "squad-questions": 0.5, "made": 0.25}
"""How often a group of a set is replayed, where not once."""
SENTENCES = 0.5
"""Share of the groups of sentences that are replayed."""

MINED = ("rel_debdocs_faq", "rel_debdocs_howto", "rel_ghdocs")
RELATED = (
    "rel_medquad",
    "rel_bioasq",
    "rel_selqa",
    "rel_multihop",
    "rel_pubmedqa",
    "rel_squad_train_sentences",
)
READER = {
    "reader_squad_train_slices": 20_000,
    "reader_squadshifts_new_wiki": 12_000,
    "reader_qed_nq_train": 10_000,
    "reader_squadshifts_reddit": 3_000,
    "reader_squadshifts_amazon_reviews": 2_000,
    "reader_qamr": 3_000,
    "reader_policyqa": 2_500,
    "reader_fairytaleqa": 2_000,
    "reader_friendsqa": 1_000,
    "reader_multihop": 1_800,
    "reader_debdocs_options": 4_000,
    "reader_covidqa": 2_000,
    "reader_doc2dial": 1_700,
    "reader_tatqa": 1_400,
    "reader_wtq_lookup": 250,
}
"""Questions that are read of each file at most."""
NEGATIVES = 9
NEARBY = 60
"""Passages of the same title, or near in the file, among which negatives are looked for."""
BY_PEOPLE = re.compile("unanswerable")
"""In the source of a row of which people said that its passage does not answer."""
HELD_BACK, HELD_BACK_GROUPS = 20, 400
"""One question in so many is not trained on; so many of these are measured."""


def streams(data: Path) -> dict[str, list[Group]]:
    """What is trained on; `data` is what `research.training_data` wrote."""
    draw = random.Random(5)
    replay: list[Group] = []
    for group in read(data / "groups.jsonl"):
        often = REPEATED.get(group["set"], 1) * (SENTENCES if group["kind"] == "sentence" else 1)
        replay += [group] * (int(often) + (draw.random() < often % 1))
    found = {
        "replay": replay,
        "mined": list(mined(MINED)),
        "related": list(mined(RELATED)),
        "reader": list(from_reader()),
        "pages": pages(data),
        "contrast": [
            {**row, "kind": "sentence"} for row in contrasts(data) if row["part"] == "train" and "exchanged" not in row
        ],
    }
    found["people"] = [one for name in ("replay", "reader") for one in found[name] if one["near"] and one["certain"]]
    return {name: [one for one in groups if not held_back(one["question"])] for name, groups in found.items()}


def pages(data: Path) -> list[Group]:
    """What `research.page_negatives` wrote, if it did."""
    return read(path) if (path := data / "pages.jsonl").exists() else []


def contrasts(data: Path) -> list[dict[str, Any]]:
    """What `research.contrasts` wrote, if it did."""
    return read(path) if (path := data / "contrasts.jsonl").exists() else []


def held_back_groups() -> list[Group]:
    """Groups of the mined and the reader's questions that are not trained on and have an answer."""
    found = [one for one in (*mined(MINED), *from_reader()) if one["positives"] and held_back(one["question"])]
    return sorted(found, key=lambda one: number_of(one["question"]))[:HELD_BACK_GROUPS]


def held_back(question: str) -> bool:
    """Whether a question is only measured."""
    return number_of(question) % HELD_BACK == 0


def number_of(question: str) -> int:
    """A number that follows from the question's letters."""
    return int(hashlib.sha256(question.encode()).hexdigest()[:12], 16)


def mined(names: Sequence[str]) -> Iterator[Group]:
    """The groups of files of pairs; a passage of a manual stands under the name of its package."""
    for name in names:
        asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows(name):
            asked[f"{row['source'].partition(':')[0]} {row['question']}"].append(row)
        for own in asked.values():
            title = own[0]["source"].partition(":")[0].rpartition("_")[2] if name in MINED else ""
            sides: tuple[list[Group], list[Group]] = ([], [])
            for row in own:
                sides[row["label"]].append({"title": title, "text": row["passage"], "spans": []})
            if all(sides):
                yield group(name, own[0]["question"], sides[1], sides[0])


def from_reader() -> Iterator[Group]:
    """Groups of the files of the reader."""
    for name, most in READER.items():
        every = rows(name)
        by_question: dict[str, list[dict[str, Any]]] = defaultdict(list)
        by_title: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in every:
            by_question[row["question"]].append(row)
            by_title[row["title"]].append(row)
        for question in sorted(by_question, key=number_of)[:most]:
            own = by_question[question]
            right = [row for row in own if row["answerable"]][:1]
            wrong = [row for row in own if not row["answerable"]]
            first = (right or wrong)[0]
            alike = by_title[first["title"]] if first["title"] else every
            others = nearest(question, neighbours(alike, first), [row["answers"][0] for row in right])
            negatives = [as_passage(row) for row in (wrong if right else wrong[1:])] + others
            positives = [as_passage(row) for row in right]
            near = [] if right else [as_passage(first)]
            certain = bool(right) or BY_PEOPLE.search(first["source"]) is not None
            if negatives:
                yield group(name, question, positives, negatives[:NEGATIVES], near, certain=certain)


def group(
    name: str,
    question: str,
    positives: Sequence[Group],
    negatives: Sequence[Group],
    near: Sequence[Group] = (),
    *,
    certain: bool = True,
) -> Group:
    """A group of passages."""
    sides = {"positives": list(positives), "negatives": list(negatives), "near": list(near)}
    return {"set": name, "kind": "passage", "question": question, **sides, "certain": certain}


def neighbours(alike: Sequence[dict[str, Any]], row: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Rows that stand near a row."""
    at = number_of(row["question"]) % len(alike) if len(alike) > NEARBY else 0
    return [*alike, *alike[:NEARBY]][at : at + NEARBY]


def nearest(question: str, among: Sequence[dict[str, Any]], answers: Sequence[str]) -> list[Group]:
    """The passages that share most words with the question and do not hold the answer."""
    asked = words(question)
    passages = {row["passage"]: row for row in among if row["question"] != question}
    free = [text for text in passages if not any(answer.lower() in text.lower() for answer in answers)]
    free.sort(key=lambda text: (-len(asked & words(text)), text))
    return [as_passage({**passages[text], "answers": []}) for text in free[:NEGATIVES]]


@lru_cache(maxsize=20_000)
def words(text: str) -> frozenset[str]:
    """Lower-case words of more than three letters."""
    return frozenset({word for word in re.findall(r"\w+", text.lower()) if len(word) > 3})


def as_passage(row: dict[str, Any]) -> Group:
    """A row's passage with the place of its first answer."""
    places = [(start, start + len(text)) for text, start in zip(row["answers"][:1], row["start"], strict=False)]
    return {"title": row["title"], "text": row["passage"], "spans": places}


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file of the folder `train`."""
    with gzip.open(DATA / "train" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
