"""Multiple choice: the option whose best piece scores highest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.machine import rows
from research.pools import by_words
from research.reader.labels import ranked, weighed_support
from research.reader.readings import (
    Asked,
    Readings,
    Table,
    Text,
    best_by,
    log_sigmoid,
    shares,
    show,
    sureness,
)
from thresher.text.terms import index_terms
from thresher.types import Reading
from thresher_evals.dataset import normalise, split_of
from thresher_evals.metrics.answers import word_f1

ASKED_WORDS = 40  # a longer question loses its beginning, or the option behind it would not be read
PASSAGE = re.compile(r"; (?=[^;/]{1,80} // )")  # between a passage and the next one's title


@dataclass(frozen=True)
class Choice:
    """A question with options; `alone` and `options` are readings of the pieces of its context."""

    question: str
    options: list[str]
    right: int
    pieces: list[Text]
    alone: list[Reading] = field(default_factory=list)
    """Of the question without an option."""
    together: list[list[Reading]] = field(default_factory=list)
    """Of the question with each option."""


Scorer = Callable[[Choice], list[float]]
"""One score per option; options that score alike share the credit."""


def option_support(choice: Choice) -> list[float]:
    """The support of the most relevant piece."""
    return [ranked(found)[0].support for found in choice.together]


def option_both(choice: Choice) -> list[float]:
    """That a piece is relevant and supports the option."""
    return [max(log_sigmoid(r.relevance) + log_sigmoid(r.support) for r in found) for found in choice.together]


def option_overlap(choice: Choice) -> list[float]:
    """F1 of the option's words and those of the spans that answer the question, each by how sure it is."""
    spans = [
        (sureness(reading), normalise(text.text[reading.start : reading.end]).split())
        for text, reading in zip(choice.pieces, choice.alone, strict=True)
    ]
    words = [normalise(option).split() for option in choice.options]
    return [sum(sure * word_f1(span, own) for sure, span in spans) for own in words]


def option_words(choice: Choice) -> list[float]:
    """Share of the option's terms in the piece that holds most of them."""
    held = [set(index_terms(text.text)) for text in choice.pieces]
    wanted = [set(index_terms(option)) for option in choice.options]
    return [max(len(own & terms) / max(1, len(own)) for terms in held) for own in wanted]


SCORERS: dict[str, Scorer] = {
    "relevance": lambda choice: [max(r.relevance for r in found) for found in choice.together],
    "mean relevance": lambda choice: [float(np.mean([r.relevance for r in found])) for found in choice.together],
    "support of the most relevant": option_support,
    "support by relevance": lambda choice: [weighed_support(found) for found in choice.together],
    "relevance and support": option_both,
    "words of the answer's span": option_overlap,
}
BASELINES: dict[str, Scorer] = {
    "chance": lambda choice: [0.0] * len(choice.options),
    "longest option": lambda choice: [float(len(option)) for option in choice.options],
    "terms in the context": option_words,
}


def options(readings: Readings, *, final: bool) -> dict[str, Any]:
    """Every scorer over every context; the best is chosen over both together."""
    found = rows("arc/questions.jsonl")
    contexts = {"internal": ("internal",), "web": ("web",), "internal and web": ("internal", "web")}
    tables: dict[str, dict[str, Table]] = {}
    for split in ("tune", "final") if final else ("tune",):
        asked = [row for row in found if (split_of(row["id"]) == "final") == (split == "final")]
        tables[split] = {}
        for context, parts in contexts.items():
            choices = [choice for row in asked if (choice := choice_of(row, parts)).pieces]
            read = read_choices(readings, choices)
            scorers = BASELINES | SCORERS
            table = {
                name: {"accuracy": shares([credit(one, scorer) for one in read])} for name, scorer in scorers.items()
            }
            tables[split][context] = table
    own = {name: tables["tune"]["internal and web"][name] for name in SCORERS}
    chosen = best_by(own, "accuracy")
    for split, by_context in tables.items():
        for context, table in by_context.items():
            n = table["chance"]["accuracy"]["n"]
            show(f"ARC-Challenge, {split}, context {context}, n {n} that have one", table, chosen)
    return {"chosen": chosen, **tables}


def choice_of(row: Mapping[str, Any], parts: Sequence[str]) -> Choice:
    """A question over the pieces of one or two contexts."""
    right = row["choices"]["label"].index(row["answer"])
    pieces = [text for part in parts for text in titled_pieces(row[part])]
    question = " ".join(row["question"].split()[-ASKED_WORDS:])
    return Choice(question, row["choices"]["text"], right, pieces)


def titled_pieces(context: str) -> list[Text]:
    """Pieces of a context; CRAG writes "title // text; title // text" where it retrieved the texts itself."""
    if " // " not in context:
        return [Text(piece) for piece in by_words(context)]
    passages = [passage.partition(" // ") for passage in PASSAGE.split(context)]
    return [Text(piece, title) for title, _, text in passages for piece in by_words(text)]


def read_choices(readings: Readings, choices: Sequence[Choice]) -> list[Choice]:
    """The choices with what the judge says to each."""
    asked = [
        Asked(words, tuple(one.pieces))
        for one in choices
        for words in (one.question, *(f"{one.question} {option}" for option in one.options))
    ]
    found = iter(readings("options", asked))
    return [
        Choice(one.question, one.options, one.right, one.pieces, next(found), [next(found) for _ in one.options])
        for one in choices
    ]


def credit(choice: Choice, scorer: Scorer) -> float:
    """1 for the right option, shared among those that score as high."""
    scores = scorer(choice)
    best = max(scores)
    return (scores[choice.right] == best) / scores.count(best)
