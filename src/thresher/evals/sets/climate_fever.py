"""`climate-fever:FILE`: claims about the climate and sentences of Wikipedia (Diggelmann et al. 2020, 2012.00614)."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Gold, Question
from thresher.evals.lines import Record, records
from thresher.evals.sets.choice import with_labels
from thresher.evals.sets.fields import objects, one_of, unique
from thresher.evals.sets.gathering import Articles, sides
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split

LABELS = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO", "DISPUTED")
DECIDING = ("SUPPORTS", "REFUTES")
"""Labels of sentences that say something of their claim; one is DISPUTED by sentences of both kinds."""


def load_climate_fever(spec: str, path: Path, split: Split) -> Dataset:
    """Every claim in its order, with its label as category; a passage has all sentences that are known of an article.

    Gold are the sentences that support or refute the claim.
    """
    asked = unique(records(path), "claim_id", "id")
    labels = {id: one_of(record, "claim_label", LABELS) for id, record in asked.items()}
    options = tuple(label for label in LABELS if label in labels.values())
    articles = Articles()
    questions: list[Question] = []
    for id, record in asked.items():
        text = with_labels(f"Claim: {record.text('claim')}\nWhat does the evidence say of this claim?", options)
        found = [read_evidence(evidence, articles) for evidence in objects(record, "evidences")]
        gold = tuple(dict.fromkeys(place for place, decides in found if decides))
        questions.append(Question(id, text, (labels[id],), gold=gold, category=labels[id], options=options))
    note = "the collection is the evidence of all claims: sentences of an article are together, others are missing"
    return loaded("climate-fever", spec, path, questions, split, corpora=sides(articles), note=note)


def read_evidence(evidence: Record, articles: Articles) -> tuple[Gold, bool]:
    """The place of a sentence, and whether it supports or refutes the claim."""
    place = articles.add(evidence.text("article"), evidence.text("evidence"))
    return place, evidence.text("evidence_label") in DECIDING
