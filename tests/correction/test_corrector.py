from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from tests.correction.making import ARTICLE
from thresher.correction.corrector import SearchingCorrector, WebSource
from thresher.correction.fetch import PageFetcher
from thresher.correction.providers import ProviderSettings, searxng
from thresher.correction.search_query import AsAsked, LLMSearchQuery
from thresher.errors import BudgetSpent, ProviderError
from thresher.models.usage import Meter
from thresher.testing.fakes import ScriptedModel
from thresher.types import Correction, Decision, Hit, Judged, Judgement, Notes, Origin, Query, Verdict
from thresher_testing.llm_server import Reply, ScriptedServer

QUERY = Query("When was the Kõpu lighthouse built?", "…", today="2026-01-15")
Site = Callable[..., tuple[str, PageFetcher, ScriptedServer]]


def whole(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))]


def failing(error: Exception) -> Callable[[Query, str], Correction]:
    def fail(query: Query, words: str) -> Correction:
        raise error

    return fail


@pytest.fixture
def web(site: Site, meter: Meter) -> Callable[..., tuple[WebSource, ScriptedServer]]:
    """A web of one search engine and its pages, all on one server."""

    def make(pages: dict[str, object], *, results: Sequence[str]) -> tuple[WebSource, ScriptedServer]:
        root, fetch, server = site(pages)
        rows = [{"url": f"{root}{path}", "title": path, "content": f"snippet of {path}"} for path in results]
        pages.setdefault("/search", json.dumps({"results": rows}))
        return WebSource(searxng(ProviderSettings(meter, server.address)), fetch, whole), server

    return make


Web = Callable[..., tuple[WebSource, ScriptedServer]]


def test_a_correct_verdict_stays_inside_unless_a_second_opinion_is_wanted() -> None:
    for verdict in (Verdict.CORRECT, None):
        correct = SearchingCorrector(AsAsked(), failing(AssertionError("asked")))
        assert correct(QUERY, Decision(verdict)) == Correction(outcome="not asked")
    doubting = SearchingCorrector(AsAsked(), failing(ProviderError("down")), sure=0.75)
    assert doubting(QUERY, Decision(Verdict.CORRECT, 0.75)).outcome == "not asked"
    for confidence in (0.74, None):
        notes = doubting(QUERY, Decision(Verdict.CORRECT, confidence)).notes
        assert notes.degraded == ("correct: down; answered from the collection alone",)


@pytest.mark.parametrize("verdict", [Verdict.AMBIGUOUS, Verdict.INCORRECT, Verdict.UNSURE])
def test_ambiguous_incorrect_and_unsure_go_outside(web: Web, meter: Meter, verdict: Verdict) -> None:
    source, server = web({"/kopu": ARTICLE}, results=["/kopu"])
    correction = SearchingCorrector(AsAsked(), source)(QUERY, Decision(verdict, reason="secret chunk"))
    (hit,) = correction.hits
    assert "built in 1531" in hit.chunk.text
    assert (hit.origin, hit.chunk.title) == (Origin.OUTSIDE, "Kõpu lighthouse")
    assert hit.fetched is not None
    assert (correction.outcome, correction.notes.degraded) == ("pages", ())
    facts = {"words": "When was the Kõpu lighthouse built?", "provider": server.host, "results": 1}
    assert facts.items() <= correction.notes.facts.items()
    assert [line["status"] for line in correction.notes.facts["pages"]] == ["page"]
    assert meter.usage.web_requests == 3
    asked = [
        "/search?q=When+was+the+K%C3%B5pu+lighthouse+built%3F&format=json",
        "/robots.txt",
        "/kopu",
    ]  # and nothing else leaves
    assert [(request.path, request.body) for request in server.requests] == [(path, None) for path in asked]


# --- what can fail ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "outcome", "instead"),
    [
        (Verdict.UNSURE, "collection", "answered from the collection alone"),
        (Verdict.INCORRECT, "nothing", "nothing to answer from"),
    ],
)
@pytest.mark.parametrize("error", [ProviderError("cannot be reached"), BudgetSpent("the budget is spent")])
def test_web_down_falls_back_to_the_collection_or_to_nothing(
    verdict: Verdict, outcome: str, instead: str, error: Exception
) -> None:
    correction = SearchingCorrector(AsAsked(), failing(error))(QUERY, Decision(verdict))
    assert correction.hits == ()
    assert correction.outcome == outcome
    assert correction.notes.degraded == (f"correct: {error}; {instead}",)


def test_pages_down_leaves_the_snippets(web: Web) -> None:
    source, _ = web({"/a": Reply(status=500), "/b": Reply(dropped=True)}, results=["/a", "/b"])
    correction = SearchingCorrector(AsAsked(), source)(QUERY, Decision(Verdict.INCORRECT))
    assert [hit.chunk.text for hit in correction.hits] == ["snippet of /a", "snippet of /b"]
    assert correction.outcome == "snippets"
    assert correction.notes.facts["pages"][0]["error"] == "the server answered 500"
    assert correction.notes.degraded == (
        "correct: no page could be read (the server answered 500); what the search itself sent was used",
    )


def test_what_the_words_the_search_and_the_judge_lacked_stands_together(web: Web) -> None:
    source, _ = web({"/a": Reply(status=500)}, results=["/a"])

    def judge(query: Query, hits: Sequence[Hit]) -> Judged:
        return Judged(tuple(Judgement(hit, keep=True) for hit in hits), Notes(("judge: none",), unreadable=1))

    words = LLMSearchQuery(ScriptedModel(["no", "no"]))
    notes = SearchingCorrector(words, source, judge)(QUERY, Decision(Verdict.AMBIGUOUS)).notes
    assert [lack.partition(";")[0].partition("(")[0] for lack in notes.degraded] == [
        "correct: the model's reply could not be read",
        "correct: no page could be read ",
        "judge: none",
    ]
    assert notes.unreadable == 3


# --- our own: what was found is judged --------------------------------------------------------------------------------


def test_what_the_judge_drops_stays_in_the_trace(web: Web) -> None:
    texts = {f"/{name}.txt": Reply(f"{name} words", headers={"Content-Type": "text/plain"}) for name in ("good", "bad")}
    source, _ = web(dict(texts), results=["/bad.txt", "/good.txt"])

    def judge(query: Query, hits: Sequence[Hit]) -> Judged:
        return Judged(tuple(Judgement(hit, keep="good" in hit.chunk.text, reason="judged") for hit in hits))

    correction = SearchingCorrector(AsAsked(), source, judge)(QUERY, Decision(Verdict.INCORRECT))
    assert [hit.chunk.text for hit in correction.hits] == ["good words"]
    assert [(j.hit.chunk.text, j.keep) for j in correction.judgements] == [("bad words", False), ("good words", True)]
    none = SearchingCorrector(AsAsked(), source, lambda query, hits: judge(query, hits[:1]))
    assert none(QUERY, Decision(Verdict.AMBIGUOUS)).outcome == "collection"
    assert none(QUERY, Decision(Verdict.INCORRECT)).outcome == "nothing"
