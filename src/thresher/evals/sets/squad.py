"""`squad:FILE`: SQuAD 2.0 (Rajpurkar et al. 2018, arXiv 1806.03822) over the paragraphs of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from thresher.evals.corpora import Corpus
from thresher.evals.labels import Dataset, Question
from thresher.evals.lines import records
from thresher.evals.sets.evidence import paragraphs, squad_question
from thresher.evals.sets.fields import unique
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split
from thresher.types import Origin


def load_squad(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order. A file that tells no answer is searched only: its labels are the paragraphs.

    Where answers are told, a question's category says whether it has one.
    """
    asked = unique(records(path))
    questions = [placed(squad_question(id, record)) for id, record in asked.items()]
    told = sum(question.category is not None for question in questions)
    note = f"{len(questions) - told} of {len(questions)} questions have a paragraph, and answers are not told"
    return loaded(
        "squad",
        spec,
        path,
        questions,
        split,
        task="ask" if told else "search",
        corpora={Origin.INSIDE: Corpus(tuple(paragraphs(asked.values()).values()))},
        note=note if told < len(questions) else "",
    )


def placed(question: Question) -> Question:
    """The question in the category `answerable` or `unanswerable`, or in none where the file does not tell."""
    if question.answerable and not question.answers:
        return question
    return replace(question, category="answerable" if question.answerable else "unanswerable")
