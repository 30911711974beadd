"""A scripted collection: every question has its hits and its answer, and some fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import (
    bundled_models,
    collection,
    home,
    indexed,
    kept_reading_processes,
    make_chunk,
    notes,
    pytest_collection_modifyitems,
    real_model,
    run,
    serve,
)
from thresher.answer import Answer
from thresher.errors import ThresherError
from thresher.types import COSINE, Chunk, Citation, Hit, Score, SearchResult, Step, Usage
from thresher_evals.dataset import Question
from thresher_evals.rows import Cited, Place, Reply, Row

__all__ = [
    "bundled_models",
    "collection",
    "home",
    "indexed",
    "kept_reading_processes",
    "make_chunk",
    "notes",
    "pytest_collection_modifyitems",
    "real_model",
    "run",
    "serve",
]


def make_hit(source: str, rank: int, page: int | None = None) -> Hit:
    """A chunk of a document whose id is its source in capitals."""
    chunk = Chunk(f"{source}#{rank}", source.upper(), source, source, 10 * rank, 10 * rank + 5, "words", page=page)
    return Hit(chunk, Score(1.0 / rank, COSINE), rank)


def cite(hit: Hit, page: int | None) -> Citation:
    """A citation of a hit, with the marker [1]."""
    chunk = hit.chunk
    return Citation(1, chunk.document_id, chunk.source, "", page, 0, 5, "words", hit.score)


@dataclass
class ScriptedAsker:
    """Answers from tables; a value that is an exception is raised."""

    hits: Mapping[str, Sequence[str] | Exception] = field(default_factory=dict)
    answers: Mapping[str, str | Exception | None] = field(default_factory=dict)
    """Question to text; None is a refusal."""
    pages: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    die_after: int | None = None
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    limits: set[int] = field(default_factory=set)

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """The scripted hits, best first."""
        self.note("search", question, recipe)
        self.limits.add(limit)
        sources = self.hits.get(question, ())
        if isinstance(sources, Exception):
            raise sources
        hits = tuple(make_hit(source, rank, self.pages.get(question)) for rank, source in enumerate(sources, start=1))
        return SearchResult(question, recipe, hits[:limit], ("no language model",))

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The scripted answer, citing the first scripted hit."""
        self.note("ask", question, recipe)
        text = self.answers.get(question)
        if isinstance(text, Exception):
            raise text
        sources = self.hits.get(question, ())
        hits = [] if isinstance(sources, Exception) or text is None else [make_hit(s, 1) for s in sources[:1]]
        return Answer(
            question=question,
            recipe=recipe,
            text=text or "The documents do not say.",
            abstained=text is None,
            reason="no evidence" if text is None else None,
            verdict=None,
            confidence=float("nan"),
            citations=tuple(cite(hit, self.pages.get(question)) for hit in hits),
            conflicts=(),
            steps=(Step("judge", 0.1, 3, 2, {"unreadable": 2, "timed_out": ["page"] if text == "late" else []}),),
            usage=Usage(llm_calls=3),
            degraded=(),
            trace="t1",
        )

    def also(self, document_id: str) -> tuple[str, ...]:
        """Other sources of a document."""
        return self.others.get(document_id, ())

    def note(self, what: str, question: str, recipe: str) -> None:
        """Remember the call; be killed when the time has come."""
        if self.die_after is not None and len(self.asked) >= self.die_after:
            raise KeyboardInterrupt
        self.asked.append((what, question, recipe))


@pytest.fixture
def scripted() -> Callable[..., ScriptedAsker]:
    """The constructor of scripted askers."""
    return ScriptedAsker


@pytest.fixture
def failure() -> ThresherError:
    """An error on purpose."""
    return ThresherError("the model fell over", next_step="start it again")


@pytest.fixture
def write_lines() -> Callable[[Path, Sequence[Any]], Path]:
    """Writes a JSON Lines file; texts are written as they are."""

    def write(path: Path, lines: Sequence[Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    return write


@pytest.fixture
def beir(tmp_path: Path, write_lines: Callable[[Path, Sequence[Any]], Path]) -> Path:
    """Three judged queries and one without judgements."""
    folder = tmp_path / "small"
    write_lines(folder / "corpus.jsonl", [{"_id": name, "title": "", "text": name} for name in "abcdef"])
    write_lines(folder / "queries.jsonl", [{"_id": str(n), "text": f"question {n}"} for n in (1, 2, 3, 4)])
    judgements = [
        "query-id\tcorpus-id\tscore\traw",
        "1\ta\t3\t2",
        "1\tb\t1\t4",
        "1\tc\t0\t-1",
        "2\td\t1\t1",
        "4\te\t1\t1",
    ]
    write_lines(folder / "qrels.tsv", judgements)
    return folder


@pytest.fixture
def qa(tmp_path: Path, write_lines: Callable[[Path, Sequence[Any]], Path]) -> Path:
    """Two answerable questions of two categories and one that is not."""
    return write_lines(
        tmp_path / "questions.jsonl",
        [
            {
                "id": "q1",
                "question": "Who?",
                "answers": ["Ada Lovelace"],
                "answerable": True,
                "gold": [{"source": "ada.pdf", "page": 2}],
                "category": "people",
            },
            {"id": "q2", "question": "Where?", "answers": ["Paris", ""], "gold_ids": ["x"], "category": "places"},
            {"id": 3, "question": "Why not?", "answers": [], "answerable": False, "category": "places"},
        ],
    )


@pytest.fixture
def make_row() -> Callable[..., Row]:
    """A row with an answer, or with a ranking, or with neither."""

    def make(
        question: Question | None = None,
        *,
        text: str | None = None,
        abstained: bool = False,
        cited: Sequence[Place] = (),
        ranking: Sequence[str | Place] | None = None,
        seconds: float = 1.0,
        llm_calls: int = 0,
    ) -> Row:
        places = [place if isinstance(place, Place) else Place(place) for place in ranking or ()]
        reply = None
        if text is not None or abstained:
            citations = tuple(
                Cited(place.source, place.also, place.page, marker=marker)
                for marker, place in enumerate(cited, start=1)
            )
            reply = Reply(text or "", abstained, citations, usage=Usage(llm_calls=llm_calls))
        return Row(
            question or Question("q", "?"),
            "rag",
            "c0ffee",
            seconds,
            ranking=None if ranking is None else tuple(places),
            reply=reply,
        )

    return make


POOL = {
    "ada": ("Ada Moor", "Ada Moor (born 1900) was a Danish painter."),
    "ada2": ("Danish art", "Ada Moor's rival called her the only painter of the north."),
    "ship": ("Ada Moor (ship)", "The Ada Moor sank in 1931."),
    "paint": ("Painter", "A painter paints."),
    "ben": ("Ben Hill", "Ben Hill is a cook from Wales."),
    "cato": ("Cato Lund", "Cato Lund wrote songs."),
}
"""Of "Ada Moor is a painter" there are two passages, a namesake and a page about painters."""

POPQA = (
    ("q1", "What is Ada Moor's occupation?", ["painter", "artist"], ["ada", "paint"], "Ada Moor"),
    ("q2", "What is Ben Hill's occupation?", ["cook"], ["ben"], "Ben Hill"),
    ("q3", "What is Cato Lund's occupation?", ["composer"], ["cato"], "Cato Lund"),
)
"""sha1("route:ID") is odd for q1 and even for q2 to q12; the gold passage of q3 does not hold the answer."""


@pytest.fixture
def popqa(tmp_path: Path, write_lines: Callable[[Path, Sequence[Any]], Path]) -> Path:
    """Questions with subjects, and their pool beside them."""
    folder = tmp_path / "wiki"
    pool = [{"_id": id, "title": title, "text": text} for id, (title, text) in POOL.items()]
    write_lines(folder / "corpus.jsonl", pool)
    fields = ("id", "question", "answers", "gold_ids", "subject")
    return write_lines(folder / "popqa.jsonl", [dict(zip(fields, line, strict=True)) for line in POPQA])


@pytest.fixture
def nq(popqa: Path, write_lines: Callable[[Path, Sequence[Any]], Path]) -> Path:
    """Questions without subjects, over the same pool."""
    fields = ("id", "question", "answers", "silver_ids", "retrieved_ids")
    lines = [
        ("q1", "who was a danish painter", ["painter"], ["ada"], ["ada", "ada2", "ship"]),
        ("q2", "who cooks in wales", ["cook"], ["ben"], ["ben", "cato"]),
        ("q4", "who sang", ["singer"], [], ["cato"]),
    ]
    return write_lines(popqa.parent / "nq.jsonl", [dict(zip(fields, line, strict=True)) for line in lines])


PARAGRAPHS = {
    "iron": "The foundry cast iron bells from 1650.",
    "fire": "A fire of 1702 destroyed the foundry.",
    "again": "It was rebuilt in 1710, and in 1702 nobody had expected that.",
    "owner": "Its owner was Maria Berg.",
}


@pytest.fixture
def squad(tmp_path: Path, write_lines: Callable[[Path, Sequence[Any]], Path]) -> Path:
    """Four paragraphs of one article; 1702 stands in two of them; q5 has no answer."""
    lines = [
        ("q1", "fire", "When was the fire?", "1702"),
        ("q2", "iron", "What was cast?", "iron bells"),
        ("q3", "owner", "Who owned it?", "Maria Berg"),
        ("q4", "fire", "What was destroyed?", "foundry"),
        ("q5", "owner", "Who sold it?", None),
    ]
    records = [
        {
            "id": id,
            "title": "Bell_foundry",
            "paragraph": list(PARAGRAPHS).index(name),
            "context": PARAGRAPHS[name],
            "question": question,
            "answers": [] if answer is None else [[PARAGRAPHS[name].index(answer), answer]],
            "unanswerable": answer is None,
        }
        for id, name, question, answer in lines
    ]
    again = {**records[0], "id": "q13", "context": PARAGRAPHS["again"], "question": "When again?"}
    again["answers"] = [[PARAGRAPHS["again"].index("1710"), "1710"]]
    return write_lines(tmp_path / "squad.jsonl", [*records, again])
