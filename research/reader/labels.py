"""Claims: true or false, by the sign of the support logit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from benchmarks.machine import DATA, rows
from research.reader.readings import LEAST, Asked, Readings, Table, Text, log_sigmoid, shares, show, windows
from thresher.text.sentences import sentence_spans
from thresher.types import Reading
from thresher_evals.dataset import split_of
from thresher_evals.stats import Forecast, auroc_interval


@dataclass(frozen=True)
class Claim:
    """A claim with its evidence, cut in three ways; evidence that is no running text is one sentence to a window."""

    split: str
    text: str
    true: bool
    sentences: list[Text]
    windows: list[Text]
    whole: Text


@dataclass(frozen=True)
class Judged:
    """The readings of a claim's evidence."""

    sentences: list[Reading]
    windows: list[Reading]
    whole: Reading


def ranked(found: Sequence[Reading]) -> list[Reading]:
    """The most relevant first."""
    return sorted(found, key=lambda reading: -reading.relevance)


def mean_support(found: Sequence[Reading]) -> float:
    """Every reading counts the same."""
    return float(np.mean([reading.support for reading in found]))


def weighed_support(found: Sequence[Reading]) -> float:
    """Each reading counts as much as it is relevant."""
    weights = [exp(log_sigmoid(reading.relevance)) + LEAST for reading in found]
    return float(np.average([reading.support for reading in found], weights=weights))


SIGNS: dict[str, Callable[[Judged], float]] = {
    "most relevant sentence": lambda judged: ranked(judged.sentences)[0].support,
    "mean of the 3 most relevant": lambda judged: mean_support(ranked(judged.sentences)[:3]),
    "sentences by relevance": lambda judged: weighed_support(judged.sentences),
    "most relevant window": lambda judged: ranked(judged.windows)[0].support,
    "windows by relevance": lambda judged: weighed_support(judged.windows),
    "whole evidence": lambda judged: judged.whole.support,
}


def labels(readings: Readings, *, final: bool) -> dict[str, Any]:
    """Every way to tell a sign, on every set; the best is chosen on two of them."""
    sets = {
        "SciFact, gold abstract": list(scifact()),
        "Climate-FEVER, five sentences": list(climate_fever()),
        "Climate-FEVER, each sentence that supports or refutes": list(climate_sentences()),
        "PubHealth, explanation as oracle evidence (it gives the label away)": list(pubhealth()),
    }
    chosen_on = list(sets)[:2]
    tables: dict[str, dict[str, Table]] = {}
    for split in ("tune", "final") if final else ("tune",):
        chosen_claims = {name: [one for one in claims if one.split == split] for name, claims in sets.items()}
        tables[split] = {name: label_table(readings, claims) for name, claims in chosen_claims.items()}
    means = {
        sign: np.mean([tables["tune"][name][sign]["accuracy"]["value"] for name in chosen_on]).item() for sign in SIGNS
    }
    chosen = max(means, key=lambda sign: means[sign])
    if final:
        # The rule is chosen without PubHealth, and nothing was trained on it: all of it is as good as final.
        *_, oracle = sets
        tables["all"] = {oracle: label_table(readings, sets[oracle])}
    for split, by_set in tables.items():
        for name, table in by_set.items():
            n = table["the more frequent label"]["accuracy"]["n"]
            show(f"{name}, {split}, n {n}", table, chosen)
    return {"chosen": chosen, "chosen_on": chosen_on, **tables}


def label_table(readings: Readings, claims: Sequence[Claim]) -> Table:
    """Accuracy of the sign, and AUROC of the logit, which does not depend on where the threshold lies."""
    asked = [Asked(one.text, (*one.sentences, *one.windows, one.whole)) for one in claims]
    judged = [
        Judged(found[: len(one.sentences)], found[len(one.sentences) : -1], found[-1])
        for one, found in zip(claims, readings("labels", asked), strict=True)
    ]
    true = [one.true for one in claims]
    frequent = sum(true) * 2 >= len(true)
    table: Table = {"the more frequent label": {"accuracy": shares([label == frequent for label in true])}}
    for name, sign in SIGNS.items():
        logits = [sign(one) for one in judged]
        forecasts = [Forecast(logit, float(label)) for logit, label in zip(logits, true, strict=True)]
        table[name] = {
            "accuracy": shares([(logit > 0) == label for logit, label in zip(logits, true, strict=True)]),
            "true found": shares([logit > 0 for logit, label in zip(logits, true, strict=True) if label]),
            "false found": shares([logit <= 0 for logit, label in zip(logits, true, strict=True) if not label]),
            "AUROC": auroc_interval(forecasts).to_dict(),
        }
    return table


def scifact() -> Iterator[Claim]:
    """Claims with each abstract that supports or contradicts them."""
    claims = {row["_id"]: row["text"] for row in rows("scifact/queries.jsonl")}
    abstracts = {row["_id"]: row for row in rows("scifact/corpus.jsonl")}
    for line in (DATA / "scifact/evidence.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        claim, abstract, label = line.split("\t")
        title, text = abstracts[abstract]["title"], abstracts[abstract]["text"]
        yield running(split_of(claim), claims[claim], label == "SUPPORT", text, title)


def pubhealth() -> Iterator[Claim]:
    """Claims that are true or false, with what a journalist wrote to explain the verdict."""
    for row in rows("pubhealth/claims.jsonl"):
        if row["label"] in ("true", "false"):
            split = "final" if split_of(row["claim_id"]) == "final" else "tune"
            yield running(split, row["claim"], row["label"] == "true", row["explanation"])


def running(split: str, claim: str, true: bool, text: str, title: str = "") -> Claim:
    """A claim whose evidence is running text."""
    sentences = [Text(text[start:end], title) for start, end in sentence_spans(text)] or [Text(text, title)]
    wider = [Text(window, title) for window in windows(text)] or sentences
    return Claim(split, claim, true, sentences, wider, Text(text, title))


def climate_fever() -> Iterator[Claim]:
    """Claims that their five sentences support or refute, some of which say nothing about them."""
    for row in rows("climate_fever/claims.jsonl"):
        if row["claim_label"] in ("SUPPORTS", "REFUTES"):
            texts = [evidence_text(evidence) for evidence in row["evidences"]]
            titles = " ".join(dict.fromkeys(text.title for text in texts))
            whole = Text(" ".join(text.text for text in texts), titles)
            true = row["claim_label"] == "SUPPORTS"
            yield Claim(split_of(row["claim_id"]), row["claim"], true, texts, texts, whole)


def climate_sentences() -> Iterator[Claim]:
    """Each sentence that supports or refutes its claim, by itself."""
    for row in rows("climate_fever/claims.jsonl"):
        for evidence in row["evidences"]:
            if evidence["evidence_label"] in ("SUPPORTS", "REFUTES"):
                text = evidence_text(evidence)
                true = evidence["evidence_label"] == "SUPPORTS"
                yield Claim(split_of(row["claim_id"]), row["claim"], true, [text], [text], text)


def evidence_text(evidence: Mapping[str, Any]) -> Text:
    """A sentence of evidence under its article."""
    return Text(evidence["evidence"].strip('"'), evidence["article"])
