"""What the reader is trained on, as one file of rows: questions with a passage.

    .venv/bin/python -m research.training_data --out training       # PopQA, NQ, TriviaQA, SQuAD: the training fifths
    .venv/bin/python -m research.reader_data --groups training --out training/reader.jsonl

Beside the published rows of data/train two kinds are made here:

* look-alikes: a name, a year or a number that question and passage share is replaced by another one in the passage
  alone (then nothing answers), or in both (then the answer stands as before), so that being odd is no sign;
* tables and forms: rows of a made table in the form in which documents are read, with questions for a cell that is
  there, for a row that is not, and for a column that is not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SEED = 23
DATA = Path(os.environ.get("THRESHER_DATA", Path(__file__).parents[2] / "shared" / "data")) / "train"
ROWS = {
    "squad_train_slices": 30_000,
    "squadshifts_new_wiki": 30_000,
    "qed_nq_train": 30_000,
    "squadshifts_amazon_reviews": 1_500,
    "squadshifts_reddit": 2_500,
    "qamr": 2_000,
    "policyqa": 2_000,
    "fairytaleqa": 2_000,
    "friendsqa": 600,
    "covidqa": 1_200,
    "multihop": 2_000,
}
"""At most so many of each: what is large and narrow is capped (README of the data)."""
RELEVANCE = {
    "squad_train_sentences": 5_000,
    "medquad": 5_000,
    "selqa": 5_000,
    "bioasq": 4_000,
    "pubmedqa": 1_500,
    "multihop": 2_500,
}
LOOK_ALIKE_SHARE = 0.55
"""Of the answerable rows of Wikipedia get a look-alike."""
LOOK_ALIKE_OF = ("squad_train_slices", "squadshifts_new_wiki", "qed_nq_train")
TABLES = 4_500

Row = dict[str, Any]


def lines(name: str) -> Iterator[Row]:
    """The rows of a file of data/train."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def row_of(
    question: str,
    title: str,
    text: str,
    spans: Sequence[tuple[int, int]],
    source: str,
    *,
    answers: bool | None = None,
) -> Row:
    """A question with a passage; without spans nothing answers it, unless `answers` says that its place is unknown."""
    row = {"question": question, "title": title, "text": text, "spans": list(spans), "source": source}
    return {**row, "answers": bool(spans) if answers is None else answers}


def published(draw: random.Random) -> Iterator[Row]:
    """The reading rows of data/train, their first answer alone."""
    for name, most in ROWS.items():
        rows = list(lines(f"reader_{name}"))
        for one in draw.sample(rows, min(most, len(rows))):
            spans = [(one["start"][0], one["start"][0] + len(one["answers"][0]))] if one["answerable"] else []
            yield row_of(one["question"], one["title"], one["passage"], spans, name)


def relevant(draw: random.Random) -> Iterator[Row]:
    """Pairs of which only is known whether the text answers."""
    for name, most in RELEVANCE.items():
        rows = list(lines(f"rel_{name}"))
        for one in draw.sample(rows, min(most, len(rows))):
            yield row_of(one["question"], "", one["passage"], [], f"rel_{name}", answers=bool(one["label"]))


def of_groups(path: Path, draw: random.Random) -> Iterator[Row]:
    """The training fifths of the question sets: a text that answers, and one that does not."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            group = json.loads(line)
            if group["set"] == "made":
                break  # the last ones, which this takes from look-alikes instead
            for text in draw.sample(group["positives"], min(1, len(group["positives"]))):
                yield row_of(group["question"], text["title"], text["text"], text["spans"], group["set"], answers=True)
            if group["certain"]:
                near = group["near"] + group["negatives"][:6]
                for text in draw.sample(near, min(1, len(near))):
                    yield row_of(group["question"], text["title"], text["text"], [], group["set"])


# --- look-alikes ------------------------------------------------------------------------------------------------------

NAME = re.compile(r"(?<![\w.])(?:[A-Z][\w'’-]+(?: (?:of the |of |the )?[A-Z][\w'’-]+)*|\d[\d,.]*\d|\d)(?!\w)")
NOT_NAMES = frozenset(
    """The A An In On At Of What Who When Where Which Why How Did Does Do Is Are Was Were For From To And By With After
    Before During As It If Can Could Has Have Had Whose Whom Name According Many Much I""".split()  # noqa: SIM905
)


def names_in(text: str) -> list[str]:
    """Names and numbers of a text, without words that begin a sentence or ask."""
    return [name for name in NAME.findall(text) if name not in NOT_NAMES]


def look_alikes(rows: Sequence[Row], draw: random.Random) -> Iterator[Row]:
    """Rows whose passage, or passage and question, speak of another one."""
    pool: dict[tuple[str, int], list[str]] = {}
    for row in rows:
        for name in names_in(row["question"]):
            pool.setdefault(shape(name), []).append(name)
    for row in rows:
        if not row["spans"] or row["source"] not in LOOK_ALIKE_OF or draw.random() > LOOK_ALIKE_SHARE:
            continue
        start, end = row["spans"][0]
        answer = row["text"][start:end]
        shared = [n for n in names_in(row["question"]) if n in row["text"] and n not in answer and answer not in n]
        if not shared:
            continue
        old = draw.choice(shared)
        new = another(old, pool, draw)
        text, spans = replaced(row["text"], old, new, (start, end))
        if not spans:
            continue
        title = replaced(row["title"], old, new, (0, 0))[0]
        if draw.random() < 0.7:
            yield row_of(row["question"], title, text, [], "look-alike")
        else:
            yield row_of(replaced(row["question"], old, new, (0, 0))[0], title, text, spans, "look-alike")


def shape(name: str) -> tuple[str, int]:
    """What may stand in a name's place: numbers of as many digits, names of as many words."""
    return ("number", len(name)) if name[0].isdigit() else ("name", len(name.split()))


def another(old: str, pool: dict[tuple[str, int], list[str]], draw: random.Random) -> str:
    """Another name or number of the same shape."""
    if old[0].isdigit():
        digits = [str(draw.randint(0, 9)) if c.isdigit() and at else c for at, c in enumerate(old)]
        new = "".join(digits)
        return new if new != old else old[:-1] + str((int(old[-1]) + 1) % 10)
    like = [name for name in draw.sample(pool[shape(old)], min(20, len(pool[shape(old)]))) if name != old]
    return like[0] if like else "Arvendal"


def replaced(text: str, old: str, new: str, span: tuple[int, int]) -> tuple[str, list[tuple[int, int]]]:
    """The text with the name replaced, word by word too; the span moves along, and is lost where it was touched."""
    olds, news = old.split(), new.split()
    pairs = {old: new}
    if not old[0].isdigit():
        pairs |= {one: news[min(at, len(news) - 1)] for at, one in enumerate(olds) if one[0].isupper() and len(one) > 3}
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(re.escape(one) for one in sorted(pairs, key=len)[::-1]) + r")(?!\w)")
    parts, last, (start, end), shift = [], 0, span, 0
    for match in pattern.finditer(text):
        if match.start() < end and match.end() > start:
            return text, []
        put = pairs[match[0]]
        if match.end() <= start:
            shift += len(put) - len(match[0])
        parts += [text[last : match.start()], put]
        last = match.end()
    return "".join([*parts, text[last:]]), [(start + shift, end + shift)]


# --- tables and forms -------------------------------------------------------------------------------------------------

THINGS = {
    "quarter": ("Q1", "Q2", "Q3", "Q4"),
    "month": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    "year": tuple(str(year) for year in range(1998, 2026)),
    "branch": ("Oakridge", "Stonebridge", "Millfield", "Harrow", "Elmswood", "Kingsport", "Dunmore", "Ashford"),
    "product": ("Kettle", "Toaster", "Desk lamp", "Office chair", "Router", "Drill", "Heater", "Fan", "Monitor"),
    "model": ("BERT-base", "BERT-large", "GPT-2", "T5-small", "RoBERTa", "LSTM", "ResNet-50", "Transformer (big)"),
    "country": ("Norway", "Spain", "Japan", "Chile", "Kenya", "Canada", "Poland", "India", "Egypt", "Peru"),
    "employee": ("Ann Lee", "Tom Berg", "Ines Duarte", "Raj Patel", "Mia Novak", "Omar Said", "Eva Lind"),
    "plan": ("Basic", "Standard", "Premium", "Family", "Student", "Enterprise"),
}
MEASURES = (
    *("revenue", "profit", "cost", "price", "stock", "headcount", "weight", "height", "accuracy", "F1", "population"),
    *("area", "salary", "budget"),
    *("net income", "unit price", "delivery time", "notice period", "BLEU score", "training time", "monthly fee"),
    *("number of employees", "number of layers", "storage limit", "response time", "annual leave", "error rate"),
)
WORDS = {
    "manager": THINGS["employee"],
    "city": ("Bergen", "Sevilla", "Osaka", "Lima", "Nairobi", "Toronto", "Lodz", "Pune"),
    "status": ("open", "closed", "shipped", "pending", "cancelled"),
    "optimizer": ("Adam", "SGD", "AdamW", "RMSProp"),
    "colour": ("black", "white", "red", "green", "steel"),
}
UNITS = ("", "", " million", " kg", " days", " hours", " %", " GB", " euros", " km")


def cell(column: str, draw: random.Random) -> str:
    """A value for a column."""
    if column in WORDS:
        return draw.choice(WORDS[column])
    value = draw.choice(
        (f"{draw.uniform(1, 100):.1f}", f"{draw.randint(2, 999)}", f"{draw.randint(1, 99)},{draw.randint(100, 999)}")
    )
    return value + draw.choice(UNITS)


def asked_for(column: str, key: str, value: str, draw: random.Random) -> str:
    """A question for a cell, as people ask."""
    forms = [f"What is the {column} of {value}?", f"What was the {column} for {value}?", f"{value} {column}"]
    if key in ("quarter", "month", "year"):
        forms = [f"What was the {column} in {value}?", f"How high was the {column} in {value}?", f"{column} in {value}"]
    elif key == "employee":
        forms += [f"What {column} does {value} have?"]
    if column == "manager":
        forms = [f"Who is the manager of {value}?", f"Who manages {value}?"]
    return draw.choice(forms)


def tables(draw: random.Random, number: int) -> Iterator[Row]:
    """Made tables and forms."""
    for _ in range(number):
        key = draw.choice(list(THINGS))
        values = draw.sample(THINGS[key], draw.randint(2, min(6, len(THINGS[key]))))
        *columns, missing = draw.sample([*MEASURES, *WORDS], draw.randint(2, 5))
        cells = {(value, column): cell(column, draw) for value in values for column in columns}
        title = draw.choice(("", f"{columns[0].capitalize()} by {key}", "Annual report", "Overview"))
        *shown, absent = values
        kind = draw.random()
        value, column = draw.choice(shown), draw.choice(columns)
        if kind < 0.25:
            value = absent
        elif kind < 0.4:
            column = missing
        text, places = written(key, shown, columns, cells, draw)
        spans = [places[value, column]] if (value, column) in places else []
        yield row_of(asked_for(column, key, value, draw), title, text, spans, "table")


def written(
    key: str, values: Sequence[str], columns: Sequence[str], cells: dict[tuple[str, str], str], draw: random.Random
) -> tuple[str, dict[tuple[str, str], tuple[int, int]]]:
    """The table as a pipe table, as lines of `column: value`, or as sentences; and where each cell stands."""
    form = draw.choice(("pipe", "pipe", "pairs", "lines"))
    text = draw.choice(("", f"Table {draw.randint(1, 9)}: {columns[0]} by {key}.\n\n", "All amounts in euros.\n\n"))
    places = {}
    if form == "pipe":
        text += "| " + " | ".join([key.capitalize(), *(column.capitalize() for column in columns)]) + " |\n"
    for value in values:
        text += f"| {value}" if form == "pipe" else f"{key.capitalize()}: {value}"
        for column in columns:
            text += {"pipe": " | ", "pairs": f"; {column}: ", "lines": f"\n{column.capitalize()}: "}[form]
            places[value, column] = (len(text), len(text) + len(cells[value, column]))
            text += cells[value, column]
        text += {"pipe": " |\n", "pairs": ".\n", "lines": "\n\n"}[form]
    return text.rstrip(), places


def main() -> None:
    """Writes the rows, shuffled by the seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--groups", type=Path, required=True, help="the folder that research.training_data wrote")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    draw = random.Random(SEED)
    rows = list(published(draw))
    rows += look_alikes(rows, draw)
    rows += of_groups(arguments.groups / "groups.jsonl", draw)
    rows += relevant(draw)
    rows += tables(draw, TABLES)
    draw.shuffle(rows)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    counts: dict[str, list[int]] = {}
    for row in rows:
        count = counts.setdefault(row["source"], [0, 0])
        count[bool(row["answers"])] += 1
    print(json.dumps({source: f"{yes} answered, {no} not" for source, (no, yes) in counts.items()}, indent=1))


if __name__ == "__main__":
    main()
