"""PopQA's long tail: one answer from several pieces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.machine import rows
from research.pools import WORDS, by_words
from research.reader.readings import (
    QUOTED_WORDS,
    SENTENCES,
    Asked,
    Readings,
    Table,
    Text,
    best_by,
    by_sentences,
    cut,
    measures,
    sentence_at,
    show,
    sureness,
)
from thresher.types import Reading
from thresher_evals.dataset import normalise, split_of

PUBLISHED = {
    "CRAG, 7B generator": {"match": 0.598, "n": 1399},
    "ChunkRAG, 7B generator": {"match": 0.649, "n": 1399},
}


class Place(NamedTuple):
    """The likeliest answer of one piece."""

    piece: str
    reading: Reading

    @property
    def answer(self) -> str:
        """The text of the place."""
        return self.piece[self.reading.start : self.reading.end]


Way = Callable[[Sequence[Place]], Place]
CUTS: dict[str, Callable[[str], list[str]]] = {
    f"{SENTENCES} sentences": by_sentences,
    f"{WORDS} words": by_words,
}


def most_relevant(places: Sequence[Place]) -> Place:
    """The place in the piece that is most relevant."""
    return max(places, key=lambda place: place.reading.relevance)


def surest(places: Sequence[Place]) -> Place:
    """The place that the judge is surest of."""
    return max(places, key=lambda place: sureness(place.reading))


def voted(places: Sequence[Place]) -> Place:
    """The surest place of the answer that is surest in sum; answers that normalise to the same are one."""
    votes: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        votes[normalise(place.answer)].append(place)
    return surest(max(votes.values(), key=lambda same: sum(sureness(place.reading) for place in same)))


WAYS: dict[str, Way] = {"most relevant": most_relevant, "surest": surest, "voted": voted}


def popqa(readings: Readings, *, final: bool) -> dict[str, Any]:
    """Every way over every context; the best is chosen on the tune fifth."""
    found = rows("popqa_longtail/questions.jsonl")
    splits = ("train", "tune", "final") if final else ("train", "tune")
    tables: dict[str, dict[str, Table]] = {}
    for split in splits:
        asked = [row for row in found if split_of(row["subject"]) == split]
        tables[split] = popqa_tables(readings, asked)
    spans = {label: values for label, values in tables["tune"]["combined"].items() if label.startswith("span")}
    chosen = best_by(spans, "match", "F1")
    for split, contexts in tables.items():
        for context, table in contexts.items():
            seen = ", seen in training" if split == "train" else ""
            n = next(iter(table.values()))["match"]["n"]
            show(f"PopQA long tail, {split}{seen}, context {context}, n {n}", table, chosen)
    print("\nPublished, match over all 1,399 questions, of which these are a part of 663: ", end="")
    print(", ".join(f"{name} {values['match']:.3f}" for name, values in PUBLISHED.items()))
    return {"chosen": chosen, "published": PUBLISHED, **tables}


def popqa_tables(readings: Readings, asked: Sequence[dict[str, Any]]) -> dict[str, Table]:
    """Measures by context and way; the combined context is the other two, one after the other."""
    golds = [row["answers"] for row in asked]
    pieces = {
        (name, context): [cut_up(row[context]) for row in asked]
        for name, cut_up in CUTS.items()
        for context in ("internal", "web")
    }
    flat = [
        Asked(row["question"], tuple(Text(piece) for own in pieces.values() for piece in own[at]))
        for at, row in enumerate(asked)
    ]
    known = [
        dict(zip((text.text for text in one.texts), found, strict=True))
        for one, found in zip(flat, readings("popqa", flat), strict=True)
    ]
    tables: dict[str, Table] = {}
    for context, made_of in (("combined", ("internal", "web")), ("internal", ("internal",)), ("web", ("web",))):
        table: Table = {}
        for name in CUTS:
            places = [
                [Place(piece, own[piece]) for part in made_of for piece in pieces[name, part][at]]
                for at, own in enumerate(known)
            ]
            for label, way in WAYS.items():
                best = [way(own) if own else None for own in places]
                table[f"span, {label}, {name}"] = measures([one.answer if one else "" for one in best], golds)
            best = [voted(own) if own else None for own in places]
            sentences = [sentence_at(one.piece, one.reading.start) if one else "" for one in best]
            table[f"sentence of the voted span, {name}"] = measures(sentences, golds)
            table[f"its first {QUOTED_WORDS} words, {name}"] = measures([cut(text) for text in sentences], golds)
        pasted = measures([" ".join(row[part] for part in made_of) for row in asked], golds)
        table["whole context pasted"] = {name: pasted[name] for name in ("match", "match_norm", "words")}
        tables[context] = table
    return tables
