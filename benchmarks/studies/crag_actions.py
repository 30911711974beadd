"""CRAG's three actions replayed on the contexts that its authors published with their code.

CRAG (arXiv:2401.15884v3), Table 11: only Correct (the refined retrieved text), only Incorrect (the web's), only
Ambiguous (both). The contexts are refined already, so this says what each action's text is worth to a reader, and
nothing of retrieval, evaluator or refinement. `match` is won by whoever says most: pasting the whole context is printed
as the ceiling that proves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.studies.study import (
    INTERVALS,
    Cell,
    Cells,
    Findings,
    Materials,
    Row,
    Study,
    Table,
    change,
    configured,
    difference_of,
    mean_of,
    parts_of,
    spread,
    table_of,
)
from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.protocols import Generator
from thresher.recipes.build import generator
from thresher.recipes.components import Components
from thresher.recipes.settings import RecipeSettings
from thresher.settings import Frozen, known_to
from thresher.types import UNIT, Chunk, Evidence, Hit, Query, Score
from thresher_evals.dataset import Question
from thresher_evals.datasets.records import records
from thresher_evals.metrics.answers import exact_match, f1, match, match_norm, unquoted, without_markers
from thresher_evals.stats import proportion_interval, quantile_interval

RECIPE = "rag"
"""Whose reader and chat model answer."""

ACTIONS = ("internal", "web", "combined")

PUBLISHED = (
    ("internal", "only Correct", 0.524, 0.567),
    ("web", "only Incorrect", 0.470, 0.485),
    ("combined", "only Ambiguous", 0.527, 0.580),
)
"""CRAG v3, Table 11: accuracy (`match`) on 1,399 questions, generators LLaMA2-hf-7b and SelfRAG-LLaMA2-7b."""

LABEL = re.compile(r"(?:^|\s)Knowledge\d+:\s*")
"""What CRAG's code puts before each of the two parts of a combined context; it is no part of the text."""


class Settings(Frozen):
    """Settings of the study: none of its own; `answer.*` and `llm.*` choose who reads."""


def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
    """A row for each question: the answer read from each context, and whether the context itself holds one."""
    contexts = contexts_of(materials.dataset.path)
    asked = materials.dataset.questions
    settings = configured(RECIPE, materials.given, materials.home)
    workers = settings.llm.concurrency if settings.llm.configured else 1
    with TemporaryDirectory(prefix="thresher-study-") as folder:
        parts = indexed(Path(folder), [contexts[question.id]["combined"] for question in asked], materials)
        generate = reader(settings, parts)
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(
                lambda question: row_of(question, contexts[question.id], generate), materials.left(done)
            )


def contexts_of(path: Path) -> dict[str, Mapping[str, str]]:
    """Question id to its contexts by action. Raises UsageError for a line that lacks one."""
    found: dict[str, Mapping[str, str]] = {}
    for record in records(path):
        texts = {action: record.fields.get(action) for action in ACTIONS}
        if not all(isinstance(text, str) for text in texts.values()):
            raise record.bad(
                f"has not the contexts {', '.join(ACTIONS)}",
                next_step="this study needs questions with CRAG's contexts",
            )
        found[record.identity("id")] = {action: str(text) for action, text in texts.items()}
    return found


def indexed(folder: Path, texts: Sequence[str], materials: Materials) -> Components:
    """A collection of the contexts, for how rare words are in them: the reader weighs sentences by it."""
    corpus = folder / "corpus.jsonl"
    lines = [json.dumps({"_id": str(number), "title": "", "text": text}) for number, text in enumerate(texts) if text]
    if not lines:
        raise UsageError(
            "every combined context is empty",
            subject=str(materials.dataset.path),
            next_step="give a file whose lines have texts in combined",
        )
    corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")
    collection = Collection(folder, "contexts")
    collection.add(corpus, recipe=RECIPE, settings=known_to(recipes.get(RECIPE).settings, materials.given))
    return parts_of(collection, materials.home)


def reader(settings: RecipeSettings, parts: Components) -> Generator:
    """The configured chat model, or the reader without one."""
    return generator(settings, parts, table_of(RECIPE, settings, parts))[0]


def row_of(question: Question, contexts: Mapping[str, str], generate: Generator) -> dict[str, Any]:
    """One question read from each of its contexts."""
    actions = {}
    for action, context in contexts.items():
        draft = generate(Query(question.question, question.question), evidence(action, context))
        markers = {citation.marker for citation in draft.citations}
        actions[action] = {
            "answer": "" if draft.abstained else without_markers(unquoted(draft.text), markers),
            "abstained": draft.abstained,
            "by": str(draft.notes.facts.get("model") or draft.notes.facts.get("reader") or ""),
            "context_words": len(context.split()),
            "context_match": match(context, question.answers),
            "context_match_norm": match_norm(context, question.answers),
        }
    return {
        "id": question.id,
        "question": question.question,
        "answers": list(question.answers),
        "actions": actions,
    }


def evidence(action: str, context: str) -> list[Evidence]:
    """A context as pieces that can be read; a combined one has two."""
    pieces = []
    for number, text in enumerate(part.strip() for part in LABEL.split(context)):
        if text:
            name = f"{action} {number}"
            chunk = Chunk(name, name, name, "", 0, len(text), text)
            pieces.append(Evidence(Hit(chunk, Score(1.0, UNIT), number + 1), 0, len(text), text))
    return pieces


# --- what the rows say ------------------------------------------------------------------------------------------------

MEASURES: Mapping[str, Callable[[str, Sequence[str]], float]] = {
    "match": match,
    "match_norm": match_norm,
    "EM": exact_match,
    "F1": f1,
}


def values(rows: Sequence[Row], action: str, measure: str) -> list[float]:
    """A measure of each question; a refusal is an empty answer."""
    return [float(MEASURES[measure](row["actions"][action]["answer"], row["answers"])) for row in rows]


def tell(rows: Sequence[Row], settings: Settings, seed: int) -> Findings:
    """Table 11 with our reader, and the ceiling."""
    n = len(rows)
    readers = sorted({row["actions"][action]["by"] for row in rows for action in ACTIONS} - {""})
    text = (
        f"Each question is answered from the context that CRAG would have handed on after each of its three actions. "
        f"n = {n} questions; read by {', '.join(readers) or 'nothing'}. A refusal counts as an empty answer. The "
        "contexts were refined by CRAG's own evaluator: what differs between actions is the text, not our retrieval.",
        "`match` asks whether a gold answer is anywhere in the text, and longer texts hold more: pasting the whole "
        "context answers no question and is listed as the ceiling of every reader that only quotes. The median number "
        "of words stands beside each value.",
    )
    pairs = (("internal", "web"), ("internal", "combined"), ("web", "combined"))
    columns = ("context", "action", "LLaMA2-hf-7b", "SelfRAG-LLaMA2-7b")
    return Findings(
        text,
        (
            Table(
                "answers",
                f"Answers, n = {n}",
                answer_rows(rows, seed),
                f"{INTERVALS} The better of two knows the answer: no evaluator that chooses between them does better.",
            ),
            Table(
                "ceiling",
                f"The whole context as the answer, n = {n}",
                [ceiling(rows, action) for action in ACTIONS],
                f"{INTERVALS} A ceiling, not a method: it proves nothing but that the text is there.",
            ),
            Table(
                "differences",
                f"Paired differences, n = {n}",
                [difference(rows, *pair, seed) for pair in pairs],
                "Paired bootstrap over the questions; p is not corrected for the number of comparisons.",
            ),
            Table(
                "published",
                "As published: CRAG v3, Table 11 (match)",
                [dict(zip(columns, line, strict=True)) for line in PUBLISHED],
                "n = 1,399 questions.",
            ),
        ),
    )


def answer_rows(rows: Sequence[Row], seed: int) -> list[Cells]:
    """What is read from each context, and from the better of two."""
    cells: list[Cells] = []
    for action in ACTIONS:
        found = [row["actions"][action] for row in rows]
        words = [float(len(one["answer"].split())) for one in found if not one["abstained"]]
        line: dict[str, Cell] = {"read from": action}
        for measure in MEASURES:
            line |= spread(measure, mean_of(values(rows, action, measure), seed))
        line |= spread("median words", quantile_interval(words, 0.5))
        line |= spread("refused", proportion_interval([float(one["abstained"]) for one in found], seed=seed))
        cells.append(line)
    either = map(max, values(rows, "internal", "match"), values(rows, "web", "match"))
    cells.append({"read from": "the better of internal and web", **spread("match", mean_of(list(either), seed))})
    return cells


def difference(rows: Sequence[Row], first: str, second: str, seed: int) -> Cells:
    """One action against another, question by question, in every measure."""
    cells: dict[str, Cell] = {"": f"{second} - {first}"}
    for measure in MEASURES:
        cells |= change(measure, difference_of(values(rows, first, measure), values(rows, second, measure), seed))
    return cells


def ceiling(rows: Sequence[Row], action: str) -> Cells:
    """Whether a context holds an answer at all."""
    found = [row["actions"][action] for row in rows]
    return {
        "": f"paste {action}",
        **spread("match", proportion_interval([float(one["context_match"]) for one in found])),
        **spread("match_norm", proportion_interval([float(one["context_match_norm"]) for one in found])),
        **spread("median words", quantile_interval([float(one["context_words"]) for one in found], 0.5)),
    }


STUDY = Study(
    "actions",
    "CRAG's three actions replayed",
    Settings,
    lambda settings: (RECIPE,),
    measure,
    tell,
    needs_collection=False,
)
