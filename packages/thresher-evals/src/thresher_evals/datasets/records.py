"""Fields that the lines of several question files have; what is not as it should be is named with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thresher.types import Origin
from thresher_evals.dataset import Corpus, Dataset, Gold, Passage, Question, Split, Task, members, passage_id
from thresher_evals.jsonl import Record, digest


def unique(found: Iterable[Record], *names: str) -> dict[str, Record]:
    """The lines by their ids: the first of the fields `names` that a line has, `id` where none is given."""
    fields = names or ("id",)
    by_id: dict[str, Record] = {}
    for record in found:
        id = record.identity(next((name for name in fields if name in record.fields), fields[0]))
        if id in by_id:
            raise record.bad(f"the id '{id}' stands on an earlier line too", next_step="ids must be unique")
        by_id[id] = record
    return by_id


def optional_text(record: Record, name: str) -> str:
    """A text that may be blank or absent, without white space around it."""
    value = record.fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise record.bad(f"'{name}' is not a text")
    return value.strip()


def objects(record: Record, name: str) -> tuple[Record, ...]:
    """A required list of objects, each read as a line is."""
    value = record.fields.get(name)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise record.bad(f"'{name}' is not a list of objects", next_step=f'give "{name}": [{{...}}] on every line')
    return tuple(Record(record.path, record.number, item) for item in value)


def one_of(record: Record, name: str, allowed: Sequence[str]) -> str:
    """A required text that is one of a few."""
    value = record.text(name)
    if value not in allowed:
        raise record.bad(f"'{name}' is '{value}'", next_step=f"it must be one of {', '.join(allowed)}")
    return value


# --- collections put together from the lines of a question file: whole passages, or articles of single senten----------


class Passages:
    """Passages in the order they come; a text that comes again is the passage it was the first time."""

    def __init__(self) -> None:
        self._by_text: dict[str, Passage] = {}

    def add(self, title: str, text: str) -> str:
        """The id of the passage with this text."""
        return self._by_text.setdefault(text, Passage(passage_id(title, text), title, text)).id

    @property
    def corpus(self) -> Corpus:
        """All of them."""
        return Corpus(tuple(self._by_text.values()))


class Articles:
    """One passage for each article: the sentences that are known of it, one a line, in the order they come."""

    def __init__(self) -> None:
        self._articles: dict[tuple[str, str], _Article] = {}

    def add(self, title: str, sentence: str, *, address: str = "") -> Gold:
        """The place of a sentence in its article, which title and address name together."""
        article = self._articles.setdefault((title, address), _Article(passage_id(title, address)))
        start = article.starts.get(sentence)
        if start is None:
            start = article.starts[sentence] = article.length
            article.length += len(sentence) + 1
        return Gold(article.id, start=start, end=start + len(sentence))

    @property
    def corpus(self) -> Corpus:
        """All of them."""
        return Corpus(
            tuple(
                Passage(article.id, title, "\n".join(article.starts)) for (title, _), article in self._articles.items()
            )
        )


@dataclass(slots=True)
class _Article:
    """Where each sentence of an article starts, and where the next one would."""

    id: str
    starts: dict[str, int] = field(default_factory=dict)
    length: int = 0


def sides(inside: Passages | Articles, outside: Passages | None = None) -> Mapping[Origin, Corpus]:
    """The corpora of a dataset; a side without a passage is left out."""
    gathered = {Origin.INSIDE: inside.corpus, Origin.OUTSIDE: outside.corpus if outside else Corpus(())}
    return {origin: corpus for origin, corpus in gathered.items() if corpus.passages}


# --- what every loader ends with: the questions of a split, and what belongs to them, as a dataset of its kin----------


def loaded(
    kind: str,
    spec: str,
    path: Path,
    questions: Iterable[Question],
    split: Split,
    *,
    task: Task = "ask",
    sha256: str = "",
    corpus: Path | None = None,
    corpora: Mapping[Origin, Corpus] | None = None,
    references: Mapping[str, tuple[str, ...]] | None = None,
    note: str = "",
) -> Dataset:
    """The dataset, named after its file or folder; see `Dataset` for what else may be said of it.

    `sha256` is given where the questions are made of more files than `path`. References of other splits are left out.
    """
    asked = members(questions, split)
    ids = {question.id for question in asked}
    return Dataset(
        kind,
        path.name if path.is_dir() else path.stem,
        spec,
        path,
        sha256 or digest(path),
        asked,
        task,
        corpus=corpus,
        corpora=corpora or {},
        references={id: texts for id, texts in (references or {}).items() if id in ids},
        note=note,
    )
