"""`popqa-longtail:FILE`: the questions of PopQA (Mallen et al. 2023, arXiv 2212.10511) about rarely read pages.

Self-RAG, CRAG and ChunkRAG report accuracy on them. CRAG's authors publish what their three actions handed to the
generator: knowledge of the collection (`internal`), of the web (`web`), or of both (`combined`).
"""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Gold, Question
from thresher.evals.lines import records
from thresher.evals.sets.fields import optional_text, unique
from thresher.evals.sets.gathering import Passages, sides
from thresher.evals.sets.holding import holds_any, words_of
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split


def load_popqa_longtail(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; `internal` contexts are inside, `web` contexts outside, under the question's `title`.

    Gold is the question's context inside where it holds an answer; a question without one can still be answered, from
    outside or from another passage.
    """
    inside, outside = Passages(), Passages()
    questions: list[Question] = []
    for id, record in unique(records(path)).items():
        title, answers = optional_text(record, "title"), record.texts("answers")
        internal, web = (optional_text(record, name) for name in ("internal", "web"))
        gold: tuple[Gold, ...] = ()
        if internal:
            place = inside.add(title, internal)
            gold = (Gold(place),) if holds_any(words_of(internal), map(words_of, answers)) else ()
        if web:
            outside.add(title, web)
        group = optional_text(record, "subject")
        questions.append(Question(id, record.text("question"), answers, gold=gold, group=group))
    held = sum(bool(question.gold) for question in questions)
    note = (
        f"contexts are CRAG's, refined already, under the title of the question's own page; {held} of {len(questions)} "
        "contexts inside hold an answer"
    )
    return loaded("popqa-longtail", spec, path, questions, split, corpora=sides(inside, outside), note=note)
