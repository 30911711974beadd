"""`pubhealth:FILE`: health claims and what fact checkers called them (PubHealth, Kotonya and Toni 2020, 2010.09926)."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Gold, Question
from thresher.evals.lines import records
from thresher.evals.sets.choice import with_labels
from thresher.evals.sets.fields import one_of, optional_text, unique
from thresher.evals.sets.gathering import Passages, sides
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split

LABELS = ("true", "false", "mixture", "unproven")
PUBLISHED = ("true", "false")
"""The labels that Self-RAG and the reports after it keep, as SUPPORTS and REFUTES."""


def load_pubhealth(spec: str, path: Path, split: Split) -> Dataset:
    """Every claim in its order, with its label as category; the collection is made of the checkers' explanations."""
    asked = unique(records(path), "id", "claim_id")
    labels = {id: one_of(record, "label", LABELS) for id, record in asked.items()}
    options = tuple(label for label in LABELS if label in labels.values())
    explanations = Passages()
    questions: list[Question] = []
    for id, record in asked.items():
        text = with_labels(f"Claim: {record.text('claim')}\nIs this health claim right?", options)
        explanation, label = optional_text(record, "explanation"), labels[id]
        gold = (Gold(explanations.add("", explanation)),) if explanation else ()
        questions.append(Question(id, text, (label,), gold=gold, category=label, options=options))
    others = sum(label not in PUBLISHED for label in labels.values())
    note = (
        "oracle evidence: the explanation leaks the label; not comparable with published numbers, which leave out "
        f"claims that are neither true nor false ({others} of {len(questions)} here)"
    )
    return loaded("pubhealth", spec, path, questions, split, corpora=sides(explanations), note=note)
