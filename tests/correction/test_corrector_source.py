from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.correction.corrector import WEB_RANK, RetrieverSource, WebSource
from thresher.correction.fetch import Page
from thresher.correction.providers import Restriction, WebResult
from thresher.filters import parse
from thresher.net import NotFetched
from thresher.types import UNIT, Hit, Judged, Judgement, Notes, Origin, Query, Score

NOW = "2026-01-15T10:00:00+00:00"
QUERY = Query("Who built it?", "who built it", where=parse("source = 'a.txt'"))


def result(number: int, **more: object) -> WebResult:
    url = f"https://site{number}.test/"
    return WebResult(url, f"Result {number}", f"snippet {number}", NOW, **more)  # type: ignore[arg-type]


def halves(text: str) -> list[tuple[int, int]]:
    return [(0, len(text) // 2), (len(text) // 2, len(text))]


class Search:
    """A web search that finds what it is given, and remembers the words."""

    host = "search.test"

    def __init__(self, *results: WebResult) -> None:
        self.results, self.asked = list(results), [("", 0)][:0]

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        self.asked.append((words, limit))
        return self.results[:limit]


def fetching(**texts: str | Exception) -> Callable[[str], Page]:
    """Pages by site; what is not given cannot be fetched."""

    def fetch(url: str) -> Page:
        text = texts.get(url.removeprefix("https://").removesuffix(".test/"), NotFetched("the server answered 404"))
        if isinstance(text, Exception):
            raise text
        return Page(f"{url}final", "Page", text, "2026-01-15T10:00:01+00:00", "2024-05-01")

    return fetch


# --- the web ----------------------------------------------------------------------------------------------------------


def test_pages_become_passages_from_outside_in_the_order_of_the_results() -> None:
    search = Search(result(1), result(2))
    found = WebSource(search, fetching(site1="abcdef", site2="uvwxyz"), halves)(QUERY, "the words")
    assert search.asked == [("the words", 5)]
    hits = [judgement.hit for judgement in found.judgements]
    assert [(hit.chunk.text, hit.chunk.source[:18], hit.rank, hit.score.value) for hit in hits] == [
        ("abc", "https://site1.test", 1, 1.0),
        ("def", "https://site1.test", 2, 1.0),
        ("uvw", "https://site2.test", 3, 0.5),
        ("xyz", "https://site2.test", 4, 0.5),
    ]
    assert {(hit.origin, hit.chunk.title, hit.fetched) for hit in hits} == {
        (Origin.OUTSIDE, "Page", "2026-01-15T10:00:01+00:00")
    }
    assert len({hit.chunk.id for hit in hits}) == 4
    assert found.outcome == "pages"
    assert found.notes.facts["pages"][0] == {
        "url": "https://site1.test/",
        "status": "page",
        "fetched": "2026-01-15T10:00:01+00:00",
    }


@given(st.text(min_size=2, max_size=60))
def test_a_passage_is_the_span_of_its_page_and_has_the_same_id_again(text: str) -> None:
    source = WebSource(Search(result(1)), fetching(site1=text), halves)
    chunks = [judgement.hit.chunk for judgement in source(QUERY, "w").judgements]
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert chunks == [judgement.hit.chunk for judgement in source(QUERY, "w").judgements]


def test_the_providers_scores_are_kept_where_every_result_has_one() -> None:
    scored = [result(1, score=Score(0.9, UNIT)), result(2, score=Score(0.4, UNIT))]
    found = WebSource(Search(*scored, WebResult("https://site3.test/", "", "", NOW, Score(0.1, UNIT))), None, halves)(
        QUERY, "w"
    )
    assert [judgement.hit.score for judgement in found.judgements] == [Score(0.9, UNIT), Score(0.4, UNIT)]
    assert (found.outcome, found.notes.degraded) == ("snippets", ())
    assert [line["status"] for line in found.notes.facts["pages"]] == ["snippet", "snippet", "nothing"]
    mixed = WebSource(Search(scored[0], result(2)), None, halves)
    assert {judgement.hit.score.scale for judgement in mixed(QUERY, "w").judgements} == {WEB_RANK}


def test_the_snippet_stands_in_for_a_page_that_cannot_be_had_and_says_so() -> None:
    found = WebSource(Search(result(1), result(2)), fetching(site1="abcdef"), halves)(QUERY, "w")
    snippet = found.judgements[-1]
    assert (snippet.hit.chunk.text, snippet.hit.chunk.source) == ("snippet 2", "https://site2.test/")
    assert snippet.hit.fetched == NOW
    assert snippet.reason == "web result 2, snippet (the server answered 404)"
    line = {"url": "https://site2.test/", "status": "snippet", "fetched": NOW, "error": "the server answered 404"}
    assert found.notes.facts["pages"][1] == line
    assert found.outcome == "pages"
    assert not found.notes.degraded


def test_what_the_provider_sent_of_a_page_is_better_than_its_snippet() -> None:
    found = WebSource(Search(result(1, content="abcdef")), fetching(), halves)(QUERY, "w")
    assert [judgement.hit.chunk.text for judgement in found.judgements] == ["abc", "def"]
    assert found.notes.facts["pages"][0]["status"] == "text from the provider"
    assert found.outcome == "pages"


def test_the_same_text_and_the_same_address_count_once() -> None:
    search = Search(result(1), result(2), result(1))
    found = WebSource(search, fetching(site1="a b c", site2="a  b\nc"), halves)(QUERY, "w")
    assert {judgement.hit.chunk.source for judgement in found.judgements} == {"https://site1.test/final"}
    assert [line["status"] for line in found.notes.facts["pages"]] == ["page", "the same text as https://site1.test/"]


def test_of_a_long_page_the_passages_with_most_search_words_are_kept_and_the_others_stay_in_the_trace() -> None:
    def words(text: str) -> list[tuple[int, int]]:
        return [(at, at + 4) for at in range(0, len(text), 4)]

    source = WebSource(Search(result(1)), fetching(site1="aa  bb  cc  dd  " * 10), words)
    found = source(QUERY, "dd bb").judgements
    assert [(j.hit.chunk.text.strip(), j.keep) for j in found] == [("bb", True), ("dd", True)] * 10 + [
        ("aa", False),
        ("cc", False),
    ] * 10
    assert [j.hit.rank for j in found] == list(range(1, 41))
    assert "not among the 20 passages" in found[-1].reason


@pytest.mark.parametrize(
    ("page", "text", "status"),
    [
        (Page("https://en.wikipedia.org/new", "t", "the page", "2026"), ["the page"], "page"),
        (Page("https://elsewhere.test/", "t", "the page", "2026"), ["snippet"], "snippet"),
        (Page("https://en.wikipedia.org/new", "t", "the page", "2026", "2019-01-01"), [], "nothing"),
    ],
)
def test_a_page_that_led_elsewhere_or_is_too_old_is_no_evidence(page: Page, text: list[str], status: str) -> None:
    """A page that leads off the sites leaves its result's snippet; one that is too old leaves nothing."""

    only = Restriction(("en.wikipedia.org",), "2024-05-01")
    search = Search(WebResult("https://en.wikipedia.org/new", "title", "snippet", NOW))
    source = WebSource(search, lambda url: page, lambda text: [(0, len(text))], only=only)
    found = source(Query("q", "q"), "q")
    assert [one.hit.chunk.text for one in found.judgements] == text
    assert found.notes.facts["pages"][0]["status"] == status
    assert (found.notes.facts["sites"], found.notes.facts["since"]) == (("en.wikipedia.org",), "2024-05-01")
    assert source.about == "web (en.wikipedia.org, from 2024-05-01 on)"


# --- another collection -----------------------------------------------------------------------------------------------


def test_another_collection_is_searched_without_the_filter_of_this_one(make_hit: Callable[..., Hit]) -> None:
    judgements = Judgement(make_hit("a"), keep=True), Judgement(make_hit("b"), keep=False, reason="copy")
    seen: list[Query] = []

    def retrieve(query: Query) -> Judged:
        seen.append(query)
        return Judged(judgements, Notes(("retrieve: no reranker",)))

    found = RetrieverSource(retrieve, "collection:archive")(QUERY, "the words")
    (query,) = seen
    assert (query.search, query.question, query.where) == ("the words", "Who built it?", None)
    assert found.notes.degraded == ("retrieve: no reranker",)
    assert [(j.hit.origin, j.hit.fetched, j.keep) for j in found.judgements] == [
        (Origin.OUTSIDE, None, True),
        (Origin.OUTSIDE, None, False),
    ]
    assert found.outcome == "pages"
    assert found.notes.facts == {"provider": "collection:archive", "results": 1, "pages": []}
