"""Drafts a question set from a collection, for a person to correct: see docs/comparing.md."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.documents.cleaning import references_span
from thresher.errors import UsageError
from thresher.models.usage import Meter
from thresher.protocols import LanguageModel, Progress
from thresher.recipes.components import chat_model
from thresher.settings import check_known, known_to
from thresher.types import Chunk, Document
from thresher_evals.compare.drafters import Draft, ModelDrafter, by_rules, near_miss, passages, sentences
from thresher_evals.datasets.derived import OFF_TOPIC
from thresher_evals.datasets.qa import is_table
from thresher_evals.questions.question_maker import QuestionMaker

COLUMNS = ("id", "question", "answers", "answerable", "source", "page", "category", "made")
"""Columns of a table of drafts, as `thresher_evals.datasets.qa` reads them."""

NUMBER = 80
"""Default number of questions: a person reads them in an hour."""

UNANSWERABLE = 0.25
"""Share of questions without an answer in the collection: enough to show a recipe that never refuses."""

MOST_DOCUMENTS = 300
"""Documents read: a few hundred questions cannot touch more."""

MOST_DROPPED = 2
"""Dropped replies for each wanted question before a model is given up."""

SEARCHED, BEST_PASSAGES = "hybrid", 5
"""Recipe and number of the passages that a near miss is checked against."""

Source = Callable[[Document], Iterator[Draft]]
"""Drafts of one document."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """Drafted questions and why others were dropped."""

    drafts: tuple[Draft, ...]
    documents: int
    """Documents of the answerable questions."""
    model: str
    """The drafting chat model, or empty."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason to number of unused replies."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form, without the questions."""
        return {
            "questions": len(self.drafts),
            "answerable": sum(draft.answerable for draft in self.drafts),
            "made": dict(Counter(draft.made for draft in self.drafts)),
            "documents": self.documents,
            "model": self.model or None,
            "dropped": dict(self.dropped),
        }


def draft_questions(
    collection: Collection,
    *,
    number: int = NUMBER,
    seed: int = 0,
    model: LanguageModel | None = None,
    progress: Progress | None = None,
) -> Drafting:
    """Up to `number` questions over the documents, the same for the same seed. Raises UsageError if there are none."""
    generator = random.Random(seed)
    found = sorted(collection.documents(), key=lambda record: record.source)
    chosen = generator.sample(found, min(len(found), MOST_DOCUMENTS))
    documents = [collection.document(record.id) for record in chosen]
    unanswerable = round(UNANSWERABLE * number)
    drawn = partial(spread, documents, progress=progress)
    if model is None:
        maker = QuestionMaker([without_references(document) for document in documents], seed=seed)
        made = [by_rules(one) for one in maker.made(number - unanswerable)]
        answered = [draft for draft in made if not draft.tells_its_answer]
        unanswerable = min(unanswerable, round(len(answered) * UNANSWERABLE / (1 - UNANSWERABLE)))
        missing = [near_miss(one) for one in maker.near_misses(unanswerable)]
        missing += off_topic(generator, unanswerable - len(missing))
        if progress is not None:
            progress(len(answered) + len(missing))
        dropped: Mapping[str, int] = {}
    else:
        drafter = ModelDrafter(model, partial(best_passages, collection))

        def gives_up() -> bool:
            return drafter.dropped.total() >= MOST_DROPPED * number

        missing = drawn(lambda one: by_model(one, drafter.near_miss, generator, gives_up), unanswerable)
        answered = drawn(lambda one: by_model(one, drafter.question, generator, gives_up), number - len(missing))
        dropped = drafter.dropped
    if not answered:
        raise UsageError(
            "no questions can be drafted from its documents",
            subject=f"collection {collection.name}",
            next_step="it needs documents with sentences; or write questions by hand, see docs/comparing.md",
        )
    taken = {draft.id for draft in answered}
    missing = [draft for draft in missing if draft.id not in taken]  # a chat model may ask the same twice
    sources = {place.source for draft in answered for place in draft.gold}
    return Drafting((*answered, *missing), len(sources), "" if model is None else model.name, dropped)


def without_references(document: Document) -> Document:
    """The document with its list of references blanked; offsets stay."""
    found = references_span(document.text)
    if found is None:
        return document
    start, end = found
    return replace(document, text=f"{document.text[:start]}{' ' * (end - start)}{document.text[end:]}")


def spread(documents: list[Document], source: Source, wanted: int, *, progress: Progress | None = None) -> list[Draft]:
    """`wanted` different drafts: one of each document, then a second of each, and so on."""
    chosen: dict[str, Draft] = {}
    drawers = [source(document) for document in documents]
    while drawers and len(chosen) < wanted:
        left = []
        for drawer in drawers:
            if len(chosen) == wanted:
                break
            draft = next((one for one in drawer if one.id not in chosen), None)
            if draft is None:
                continue
            chosen[draft.id] = draft
            left.append(drawer)
            if progress is not None:
                progress(1)
        drawers = left
    return list(chosen.values())


def by_model(
    document: Document,
    drafted: Callable[[Chunk], Draft | None],
    generator: random.Random,
    gives_up: Callable[[], bool],
) -> Iterator[Draft]:
    """A chat model's drafts from a document's passages in random order; a bad reply costs the passage."""
    found = list(passages(document, sentences(document)))
    for passage in generator.sample(found, len(found)):
        if gives_up():
            return
        draft = drafted(passage)
        if draft is not None:
            yield draft


def off_topic(generator: random.Random, wanted: int) -> list[Draft]:
    """Questions that no collection of documents answers."""
    texts = generator.sample(OFF_TOPIC, min(wanted, len(OFF_TOPIC)))
    return [Draft(text, "off-topic", "off-topic", answerable=False) for text in texts]


def best_passages(collection: Collection, question: str) -> list[str]:
    """The passages of the collection nearest to a question."""
    found = collection.search(question, recipe=SEARCHED, limit=BEST_PASSAGES)
    return [hit.chunk.text for hit in found.hits]


def drafting_model(collection: Collection, given: Mapping[str, Any]) -> LanguageModel | None:
    """The chat model that a question to the collection would use, if any; its replies are not stored."""
    check_known(given, recipes.settings_keys())
    recipe = recipes.get(SEARCHED)
    return chat_model(recipe.configured(known_to(recipe.settings, given), home=collection.home).llm, Meter())


# --- the file ---------------------------------------------------------------------------------------------------------


def write_drafts(drafts: Iterable[Draft], path: Path, *, force: bool = False) -> None:
    """Write a line for each question, or a table (.csv). Raises UsageError for an existing file without `force`."""
    check_free(path, force=force)
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_table(path):
        with path.open("w", encoding="utf-8-sig", newline="") as file:  # Excel reads a CSV without a BOM as Latin-1
            csv.writer(file).writerows([COLUMNS, *map(row_of, drafts)])
    else:
        lines = [json.dumps(draft.to_dict(), ensure_ascii=False) + "\n" for draft in drafts]
        path.write_text("".join(lines), encoding="utf-8")


def row_of(draft: Draft) -> list[str]:
    """The cells of a question, in the order of `COLUMNS`, with the first of its gold passages."""
    gold = draft.gold[0].to_dict() if draft.gold else {}
    place = [str(gold.get(name) or "") for name in ("source", "page")]
    answerable = "yes" if draft.answerable else "no"
    return [draft.id, draft.question, " | ".join(draft.answers), answerable, *place, draft.category, draft.made]


def check_free(path: Path, *, force: bool) -> None:
    """Raise UsageError for an existing file, which may contain corrections, and for one that cannot be written."""
    if path.is_dir():
        raise UsageError("is a folder", subject=str(path), next_step="give a file")
    if is_table(path) and path.suffix.lower() != ".csv":
        raise UsageError("is not written here", subject=str(path), next_step="give a file called .jsonl or .csv")
    if path.exists() and not force:
        raise UsageError("exists already", subject=str(path), next_step="give another --out, or --force to replace it")
