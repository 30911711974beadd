from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from thresher.correction.fetch import Page, RecordedPages
from thresher.correction.providers import SEARXNG_SCALE as SCALE
from thresher.correction.providers import RecordedSearch, WebResult
from thresher.errors import BudgetSpent, NotRecorded, ProviderError
from thresher.models.cassette import Exchanges
from thresher.models.usage import Meter
from thresher.net.http import NotFetched
from thresher.types import Score

RESULTS = [
    WebResult("https://a.test/", "A", "first", "2026-01-01T00:00:00+00:00", Score(3.5, SCALE), "the page"),
    WebResult("https://b.test/", "B", "second", "2026-01-01T00:00:00+00:00"),
]
PAGE = Page("https://a.test/", "A", "The text of the page.", "2026-01-01T00:00:01+00:00")


@dataclass
class Searching:
    """A search that gives what it is told and counts itself on the meter."""

    meter: Meter
    results: list[WebResult] = field(default_factory=lambda: list(RESULTS))
    error: Exception | None = None
    calls: int = 0
    name: str = "given"
    host: str = "search.test"

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        self.calls += 1
        self.meter.searched("https://search.test/")
        if self.error is not None:
            raise self.error
        return self.results[:limit]


def again(exchanges: Exchanges) -> Exchanges:
    return Exchanges(exchanges.stored())


def test_results_are_played_back_as_they_were_and_cost_the_same() -> None:
    meter, second, recorded = Meter(), Meter(), Exchanges()
    searching = Searching(meter)
    found = RecordedSearch(searching, recorded, meter)("words", limit=5)
    played = RecordedSearch(replace(searching, meter=second), again(recorded), second)
    assert played("words", limit=5) == found == RESULTS
    assert (searching.calls, second.usage) == (1, meter.usage)
    assert second.usage.hosts == ("search.test",)
    assert (played.name, played.host) == ("given", "search.test")
    with pytest.raises(NotRecorded):
        played("words", limit=5)


@pytest.mark.parametrize("error", [ProviderError("is down", subject="search.test"), BudgetSpent("spent")], ids=str)
def test_a_search_that_failed_fails_again(error: Exception) -> None:
    meter, recorded = Meter(), Exchanges()
    searching = Searching(meter, error=error)
    with pytest.raises(type(error), match=str(error)):
        RecordedSearch(searching, recorded, meter)("words", limit=5)
    with pytest.raises(type(error), match=str(error)):
        RecordedSearch(searching, again(recorded), Meter())("words", limit=5)
    assert searching.calls == 1


def fetching(meter: Meter, given: Any) -> Any:
    def fetch(url: str) -> Page:
        meter.searched(url)
        if isinstance(given, Exception):
            raise given
        assert isinstance(given, Page)
        return given

    return fetch


def test_a_page_is_played_back_with_what_it_cost() -> None:
    meter, second, recorded = Meter(), Meter(), Exchanges()
    page = RecordedPages(fetching(meter, PAGE), recorded, meter)(PAGE.url)
    assert RecordedPages(fetching(second, AssertionError()), again(recorded), second)(PAGE.url) == page == PAGE
    assert second.usage == meter.usage


def test_a_page_that_could_not_be_had_is_refused_again_in_the_same_words() -> None:
    meter, recorded = Meter(), Exchanges()
    for exchanges, given in ((recorded, NotFetched("refused: 127.0.0.1 is not public")), (None, PAGE)):
        with pytest.raises(NotFetched, match=r"127\.0\.0\.1 is not public"):
            RecordedPages(fetching(meter, given), exchanges or again(recorded), meter)(PAGE.url)
