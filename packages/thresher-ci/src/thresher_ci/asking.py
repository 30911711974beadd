"""Questions asked of a collection; one whose answer cannot have changed is not answered again.

What an answer depends on is its *footprint*. Every question is retrieved anew, because any document may enter its
candidates and any change of the collection may change the order of BM25. After that `corrective` reads nothing of the
collection but

- the retrieved passages in their order (their scores of retrieval do not count: the judge scores anew),
- the documents that these passages come from,
- the rarity of the question's terms among all chunks, in two of the six signs of how probable an answer is.

The first two, the settings, the calibrations, the files of the engine and the day are the first half of the footprint,
rarity is the second. Two runs with equal footprints give equal answers, so an answer known under a footprint is taken,
and judging and generating are skipped. A change of the number of chunks changes every rarity: where the first half is
known, the answer is decided anew from what the judge read before (`readings`); a model reads only what is looked at for
the first time. That does not count as answered again. A recipe other than `corrective`, another judge, a search outside
and a collection with a certificate, which any document may void, are never skipped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any

from thresher import Answer, Collection, Hit
from thresher.question.wording import asked_apart
from thresher_ci.knowledge import Question
from thresher_ci.outcome import Outcome, outcome_of
from thresher_ci.readings import engine

SKIPPED = "corrective"
"""The recipe whose footprint is known."""

JUDGES = ("auto", "trained")
"""Of `corrective`: those that read no score of the retrieval."""

RARITY = " with rarity "
"""Between the two halves of a footprint."""


@dataclass(slots=True)
class Asker:
    """Asks the questions of one collection, and counts those whose passages, documents or settings are new."""

    collection: Collection
    recipe: str
    settings: Mapping[str, Any]
    relative: Callable[[str], str]
    known: Mapping[str, Outcome]
    """Answers of this or another state by their footprints."""
    strict: bool = False
    again: int = 0
    _documents: dict[str, str] = field(default_factory=dict)

    def __call__(self, questions: Sequence[Question]) -> Iterator[Outcome]:
        """What became of each question."""
        seen = {known.partition(RARITY)[0] for known in self.known}
        return (self._asked(question, seen) for question in questions)

    def _asked(self, question: Question, seen: Set[str]) -> Outcome:
        recipe = question.recipe or self.recipe
        environment = self._environment(recipe)
        footprint = ""
        run = self.collection.run(question.question, recipe=recipe, settings=self.settings, strict=self.strict)
        with closing(run) as steps:
            for step in steps:
                if isinstance(step, Answer):
                    self.again += footprint.partition(RARITY)[0] not in seen or step.usage.llm_calls > 0
                    return outcome_of(step, footprint, self.relative, self.collection.document)
                if step.name == "retrieve" and environment:
                    footprint = self._footprint(question.question, recipe, environment, step.value.kept)
                    if footprint in self.known:
                        return self.known[footprint]
        raise AssertionError("a run ends with an answer")

    def _environment(self, recipe: str) -> str:
        """What an answer depends on besides the documents; empty where that is not known in full."""
        settings = self.collection.settings(recipe, self.settings)
        outside = settings.get("outside") not in (None, "none")
        certified = self.collection.certificates.get(recipe) is not None
        if recipe != SKIPPED or outside or certified or settings.get("judge") not in JUDGES:
            return ""
        return digest([environment(self.collection, recipe, self.settings), date.today().isoformat()])

    def _footprint(self, question: str, recipe: str, environment: str, hits: Sequence[Hit]) -> str:
        chunks = [hit.chunk for hit in hits]
        passages = [
            (self.relative(one.source), one.title, one.start, one.end, one.text, one.page, one.kind) for one in chunks
        ]
        documents = [self._document(id_) for id_ in dict.fromkeys(one.document_id for one in chunks)]
        rarity = self.collection.rarity(wordings(question), recipe=recipe, settings=self.settings)
        return f"{digest([question, environment, passages, documents])}{RARITY}{digest(sorted(rarity.items()))}"

    def _document(self, document_id: str) -> str:
        """Fingerprint of all of a document but where it lies."""
        if document_id not in self._documents:
            read = replace(self.collection.document(document_id), source="", container="")
            self._documents[document_id] = digest(asdict(read))
        return self._documents[document_id]


def wordings(question: str) -> str:
    """All words in which the engine reads a question: it and its parts."""
    return "\n".join(dict.fromkeys((question, *(part.asked for part in asked_apart(question)))))


def environment(collection: Collection, recipe: str, settings: Mapping[str, Any]) -> str:
    """Fingerprint of settings, calibrations and engine."""
    calibrations = collection.files.read("calibrations.json") or b""
    return digest([recipe, collection.settings(recipe, settings), calibrations.decode(), engine()])


def digest(value: Any) -> str:
    """Fingerprint of a value of JSON."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, default=str).encode()).hexdigest()
