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
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.protocols import Generator
from thresher.recipes.components import Components
from thresher.recipes.settings import RecipeSettings
from thresher.settings import Frozen, own
from thresher.types import UNIT, Chunk, Evidence, Hit, Query, Score
from thresher_evals.dataset import Question
from thresher_evals.jsonl import records
from thresher_evals.metrics.answers import exact_match, f1, match, match_norm, unquoted, without_markers
from thresher_evals.report.blocks import Cell, Figure, Section, Table
from thresher_evals.stats import proportion_interval, quantile_interval
from thresher_evals.studies.runner import (
    INTERVALS,
    Kind,
    Materials,
    Study,
    StudyRow,
    configured,
    difference_of,
    mean_of,
    parts_of,
    shown,
    shown_difference,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def recipes_of(settings: Settings) -> Sequence[str]:
    """The recipe whose reader answers."""
    return (RECIPE,)


def measure(materials: Materials, done: Set[str]) -> Iterator[StudyRow]:
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
    collection.add(corpus, recipe=RECIPE, settings=own(recipes.get(RECIPE).settings, materials.given))
    return parts_of(collection, materials.home)


def reader(settings: RecipeSettings, parts: Components) -> Generator:
    """The configured chat model, or the reader without one."""
    layout = recipes.get(RECIPE).index_config(settings, parts)
    assert layout is not None
    return parts.reader(settings, parts.table(layout))[0]


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

Measure = Callable[[str, Sequence[str]], float]

MEASURES: Mapping[str, Measure] = {
    "match": lambda text, golds: float(match(text, golds)),
    "match_norm": lambda text, golds: float(match_norm(text, golds)),
    "EM": lambda text, golds: float(exact_match(text, golds)),
    "F1": f1,
}


def values(rows: Sequence[StudyRow], action: str, measure: str) -> list[float]:
    """A measure of each question; a refusal is an empty answer."""
    return [MEASURES[measure](row["actions"][action]["answer"], row["answers"]) for row in rows]


def section(rows: Sequence[StudyRow], study: Study) -> Section:
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
    return Section(
        study.title,
        text,
        (action_table(rows, study.seed), ceiling_table(rows), difference_table(rows, study.seed), published_table()),
        (
            Figure(
                "actions-match",
                "match by action",
                partial(draw, rows),
                n,
                "Hollow: as published (CRAG v3, Table 11; LLaMA2-hf-7b and SelfRAG-LLaMA2-7b, 1,399 questions). "
                "Grey: the whole context pasted. Bars: 95 % intervals over the questions.",
            ),
        ),
    )


def action_table(rows: Sequence[StudyRow], seed: int) -> Table:
    """What is read from each context."""
    cells: list[Sequence[Cell]] = []
    for action in ACTIONS:
        told = [row["actions"][action] for row in rows]
        words = [float(len(one["answer"].split())) for one in told if not one["abstained"]]
        cells.append(
            (
                action,
                *(shown(mean_of(values(rows, action, measure), seed)) for measure in MEASURES),
                shown(quantile_interval(words, 0.5), 0),
                shown(proportion_interval([float(one["abstained"]) for one in told], seed=seed)),
            )
        )
    either = [
        max(pair) for pair in zip(*(values(rows, action, "match") for action in ("internal", "web")), strict=True)
    ]
    cells.append(("the better of internal and web", shown(mean_of(either, seed)), None, None, None, None, None))
    columns = ("read from", *MEASURES, "median words", "refused")
    note = f"{INTERVALS} The better of two knows the answer: no evaluator that chooses between them does better."
    return Table(f"Answers, n = {len(rows)}", columns, cells, note)


def ceiling_table(rows: Sequence[StudyRow]) -> Table:
    """Whether the contexts hold an answer at all."""
    cells: list[Sequence[Cell]] = []
    for action in ACTIONS:
        told = [row["actions"][action] for row in rows]
        holds = (
            proportion_interval([float(one[name]) for one in told]) for name in ("context_match", "context_match_norm")
        )
        words = quantile_interval([float(one["context_words"]) for one in told], 0.5)
        cells.append((f"paste {action}", *map(shown, holds), shown(words, 0)))
    note = f"{INTERVALS} A ceiling, not a method: it proves nothing but that the text is there."
    return Table(
        f"The whole context as the answer, n = {len(rows)}", ("", "match", "match_norm", "median words"), cells, note
    )


def difference_table(rows: Sequence[StudyRow], seed: int) -> Table:
    """Actions against each other, question by question."""
    cells: list[Sequence[Cell]] = []
    for first, second in (("internal", "web"), ("internal", "combined"), ("web", "combined")):
        differences = (
            difference_of(values(rows, first, measure), values(rows, second, measure), seed) for measure in MEASURES
        )
        cells.append((f"{second} - {first}", *map(shown_difference, differences)))
    note = "Paired bootstrap over the questions; p is not corrected for the number of comparisons."
    return Table(f"Paired differences, n = {len(rows)}", ("", *MEASURES), cells, note)


def published_table() -> Table:
    """Table 11 as printed."""
    columns = ("context", "action", "LLaMA2-hf-7b", "SelfRAG-LLaMA2-7b")
    return Table("As published: CRAG v3, Table 11 (match)", columns, PUBLISHED, "n = 1,399 questions.")


def draw(rows: Sequence[StudyRow], axes: Axes) -> None:
    """What is read, what is there, what was published."""
    for place, (action, _, plain, selfrag) in enumerate(PUBLISHED):
        read = mean_of(values(rows, action, "match"), 0)
        held = sum(row["actions"][action]["context_match"] for row in rows) / len(rows)
        axes.bar(place, held, 0.6, color="0.85", label="whole context pasted" if not place else None)
        if read.value is not None and read.low is not None and read.high is not None:
            error = [[read.value - read.low], [read.high - read.value]]
            axes.bar(place, read.value, 0.35, yerr=error, color="C0", capsize=2, label="read" if not place else None)
        for value, marker, words in ((plain, "o", "published, hf-7b"), (selfrag, "s", "published, SelfRAG-7b")):
            axes.plot(place + 0.38, value, marker, markerfacecolor="none", color="C1", label=words if not place else "")
    axes.set_xticks(range(len(PUBLISHED)), [action for action, *_ in PUBLISHED])
    axes.set_ylim(0, 1)
    axes.set_ylabel("match")
    axes.legend()


KIND = Kind("actions", "CRAG's three actions replayed", Settings, recipes_of, measure, section, needs_collection=False)
