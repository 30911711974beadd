"""Searches and pages that are recorded with the question, and played back in place of the network."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from thresher.correction.corrector import FetchPage
from thresher.correction.fetch import Page
from thresher.correction.http import NotFetched
from thresher.correction.web import WebResult, WebSearch
from thresher.models.cassette import Exchanges
from thresher.models.usage import Meter
from thresher.types import Scale, Score


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """A web search whose results are part of a question's record."""

    search: WebSearch
    exchanges: Exchanges
    meter: Meter

    @property
    def name(self) -> str:
        """Of the search."""
        return self.search.name

    @property
    def host(self) -> str:
        """Of the search."""
        return self.search.host

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """The results, best first. Raises ProviderError and BudgetSpent, as they were raised."""

        def make() -> str:
            return json.dumps([_written(result) for result in self.search(words, limit=limit)])

        reply = self.exchanges.reply(["search", self.host, words, str(limit)], make, meter=self.meter)
        return [_read(result) for result in json.loads(reply)]


@dataclass(frozen=True, slots=True)
class RecordedPages:
    """A page fetcher whose pages, and failures, are part of a question's record."""

    fetch: FetchPage
    exchanges: Exchanges
    meter: Meter

    def __call__(self, url: str) -> Page:
        """The page at an address. Raises NotFetched and BudgetSpent, as they were raised."""

        def make() -> str:
            try:
                return json.dumps({"page": asdict(self.fetch(url))})
            except NotFetched as failure:
                return json.dumps({"failure": str(failure)})

        reply = json.loads(self.exchanges.reply(["page", url], make, meter=self.meter))
        if "failure" in reply:
            raise NotFetched(reply["failure"])
        return Page(**reply["page"])


def _written(result: WebResult) -> dict[str, object]:
    score = result.score
    told = None if score is None else [score.value, score.scale.name, score.scale.low, score.scale.high]
    return {**asdict(result), "score": told}


def _read(told: dict[str, object]) -> WebResult:
    score = told["score"]
    if isinstance(score, list):
        value, name, low, high = score
        return WebResult(**{**told, "score": Score(value, Scale(name, low, high))})  # type: ignore[arg-type]
    return WebResult(**told)  # type: ignore[arg-type]
