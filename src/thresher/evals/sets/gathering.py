"""Collections put together from the lines of a question file: whole passages, or articles of single sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.evals.corpora import Corpus, Passage, passage_id
from thresher.evals.labels import Gold
from thresher.types import Origin


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
