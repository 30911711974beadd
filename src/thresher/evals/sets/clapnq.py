"""`clapnq:FILE`: long answers out of one Wikipedia passage (CLAPnq, Rosenthal et al. 2024, arXiv 2404.02103)."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Gold, Question
from thresher.evals.lines import Record, records
from thresher.evals.sets.fields import objects, optional_text, unique
from thresher.evals.sets.gathering import Passages, sides
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split


def load_clapnq(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; the passages of all lines are the collection.

    Gold are the sentences that the annotators selected. A question without an answer cannot be answered from its
    passage; its category says so.
    """
    passages = Passages()
    questions = [read_question(id, record, passages) for id, record in unique(records(path)).items()]
    note = (
        "answers are the annotators' long ones, which the paper compares by ROUGE-L and recall; f1 is the nearest "
        "measure here, match and em say nothing of them"
    )
    return loaded("clapnq", spec, path, questions, split, corpora=sides(passages), note=note)


def read_question(id: str, record: Record, passages: Passages) -> Question:
    """One line; its passages are added to the others."""
    texts = {}
    for passage in objects(record, "passages"):
        text = passage.text("text")
        texts[passages.add(optional_text(passage, "title"), text)] = text
    outputs = objects(record, "output")
    answers = tuple(dict.fromkeys(answer for output in outputs if (answer := optional_text(output, "answer"))))
    selected = dict.fromkeys(sentence for output in outputs for sentence in output.texts("selected_sentences"))
    gold = tuple(place for sentence in selected if (place := place_of(sentence, texts)))
    return Question(
        id,
        record.text("question"),
        answers,
        bool(answers),
        # Sentences that stand nowhere word for word leave the passages as what is known.
        (gold or tuple(map(Gold, texts))) if answers else (),
        category="answerable" if answers else "unanswerable",
    )


def place_of(sentence: str, texts: dict[str, str]) -> Gold | None:
    """Where the sentence first stands in one of the passages."""
    for id, text in texts.items():
        if (start := text.find(sentence)) >= 0:
            return Gold(id, start=start, end=start + len(sentence))
    return None
