"""Questions that are corrected from outside: another collection, or the web through a scripted server."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.recipes.scripting import Judge, blocks, stage, stages, user_of, using
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import Degraded, UsageError
from thresher.recipes import corrective
from thresher.types import Origin, Verdict
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
INSIDE = "How many nautical miles does the light of the Kõpu lighthouse reach?"
OUTSIDE = "Which country won the football world cup in 1998?"
ALMANAC = "The football world cup in 1998 was won by France. The country beat Brazil in the final."
CORRECTING = ["crag", "ecrag", "corrective"]
ARCHIVE = "collection:archive"


@pytest.fixture(scope="module")
def library(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notes, and a second collection that knows football."""
    home = tmp_path_factory.mktemp("library")
    (home / "football.txt").write_text(ALMANAC, encoding="utf-8")
    (home / "tennis.txt").write_text("Tennis is played on grass in Wimbledon every summer.", encoding="utf-8")
    with thresher.open(home) as inside, thresher.open(home, "archive") as archive:
        inside.add(notes, recipe="corrective")
        archive.add(home / "football.txt", home / "tennis.txt", recipe="corrective")
        yield inside


def step(answer: Answer, name: str) -> dict[str, Any]:
    return dict(next(one for one in answer.steps if one.name == name).detail)


# --- another collection -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", CORRECTING)
def test_what_the_collection_does_not_know_is_answered_from_another(library: Collection, recipe: str) -> None:
    alone = library.ask(OUTSIDE, recipe=recipe)
    corrected = library.ask(OUTSIDE, recipe=recipe, outside=ARCHIVE)
    assert (alone.abstained, corrected.abstained) == (True, False)
    assert alone.verdict == corrected.verdict == Verdict.INCORRECT
    (citation, *_) = corrected.citations
    assert citation.origin is Origin.OUTSIDE
    assert citation.quote.startswith("The football world cup in 1998 was won by France.")
    assert "France" in corrected.text
    assert citation.source.endswith("football.txt")
    assert corrected.usage.web_requests == 0
    mine = [fate for fate in corrected.chunks if fate.hit.origin is Origin.INSIDE]
    assert {fate.dropped_by for fate in mine} <= {"judge", "decide"}
    told = step(corrected, "correct")
    assert (told["outcome"], told["provider"]) == ("pages", ARCHIVE)


@pytest.mark.parametrize("recipe", CORRECTING)
def test_what_the_collection_knows_is_not_looked_for_elsewhere(
    library: Collection, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {} if recipe == "ecrag" else {"lower": 0.2, "upper": 0.5}
    if recipe == "corrective":
        monkeypatch.setattr(corrective, "SECOND_OPINION_BELOW", 0.5)
    answer = library.ask(INSIDE, recipe=recipe, outside=ARCHIVE, settings=settings)
    assert (answer.verdict, step(answer, "correct")["outcome"]) == (Verdict.CORRECT, "not asked")
    assert {fate.hit.origin for fate in answer.chunks} == {Origin.INSIDE}


def test_a_correct_verdict_that_is_not_sure_asks_another_collection_too(
    library: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corrective, "SECOND_OPINION_BELOW", 1.0)
    answer = library.ask(INSIDE, outside=ARCHIVE, settings={"lower": 0.2, "upper": 0.5})
    told = step(answer, "correct")
    assert (answer.verdict, told["provider"]) == (Verdict.CORRECT, ARCHIVE)


def test_none_is_nowhere(library: Collection) -> None:
    answer = library.ask(OUTSIDE, outside="none")
    assert answer.abstained
    assert step(answer, "correct") == {"outcome": "no outside source was given"}
    assert answer.reason is not None
    assert "outside" not in answer.reason


def test_what_is_found_outside_and_does_not_suffice_is_dropped_by_our_own(library: Collection) -> None:
    answer = library.ask("Who painted the Mona Lisa?", outside=ARCHIVE)
    assert answer.abstained
    outside = [fate for fate in answer.chunks if fate.hit.origin is Origin.OUTSIDE]
    assert outside
    assert all(fate.dropped_by == "correct" for fate in outside)
    assert step(answer, "correct")["outcome"] == "nothing"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("collection:nowhere", "holds no documents yet; call `add(PATH)` with `collection` nowhere"),
        ("collection:default", "the question already searches this collection"),
        ("collection:", "use none, web or collection:NAME"),
        ("collection", "use none, web or collection:NAME"),
        ("archive", "use none, web or collection:NAME"),
        ("collection:../archive", "is not a collection name"),
        ("web", "set web.provider=searxng and web.base_url, or web.provider=tavily (or brave) and web.api_key"),
    ],
)
def test_a_place_that_is_none_is_refused_before_anything_is_asked(library: Collection, given: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        library.ask(INSIDE, outside=given)
    assert told in str(caught.value)


@pytest.mark.parametrize("recipe", ["rag", "hybrid", "chunkrag", "no-retrieval"])
def test_a_recipe_that_never_goes_outside_says_so(library: Collection, recipe: str) -> None:
    answer = library.ask(INSIDE, recipe=recipe, outside=ARCHIVE)
    assert f"correct: {recipe} never goes outside; {ARCHIVE} was not looked in" in answer.degraded
    assert library.replay(answer.trace)[1] == []


def test_where_to_look_outside_may_be_a_setting_which_the_argument_wins_over(library: Collection) -> None:
    def tried(recipe: str = "corrective", **more: Any) -> bool:
        answer = library.ask(OUTSIDE, recipe=recipe, settings={"outside": ARCHIVE}, **more)
        return any(chunk.hit.origin is Origin.OUTSIDE for chunk in answer.chunks)

    assert tried()
    assert not tried(outside="none")
    assert not tried("rag")


@pytest.mark.parametrize("verdict", [Verdict.AMBIGUOUS, Verdict.INCORRECT])
def test_z4_z5_and_z9_both_verdicts_go_outside_and_what_is_found_is_refined(
    library: Collection, serve: Serve, verdict: Verdict
) -> None:
    """Ambiguous answers from both sides, ours first; incorrect from theirs alone; both sides strip by strip."""
    mine = 0.5 if verdict is Verdict.AMBIGUOUS else 0.1
    server = serve(Judge(score=lambda q, text: 0.9 if "won by France" in text else mine))
    answer = library.ask(OUTSIDE, recipe="crag", outside=ARCHIVE, settings=using(server, refine__top_k=2))
    assert answer.verdict == verdict
    shown = blocks("evidence", next(user_of(one.body) for one in server.asked() if stage(one.body) == "answer"))
    origins = [citation.origin for citation in answer.citations]
    assert origins == [Origin.OUTSIDE]
    assert "The football world cup in 1998 was won by France." in shown
    assert len(shown) == (4 if verdict is Verdict.AMBIGUOUS else 1)


def test_a_filter_is_for_the_collection_that_was_asked(library: Collection) -> None:
    answer = library.ask(OUTSIDE, recipe="crag", outside=ARCHIVE, where="page = 7")
    assert not answer.abstained


# --- the web ----------------------------------------------------------------------------------------------------------


def results(server_address: str) -> str:
    rows = [
        {"url": f"{server_address}/cup", "title": "World cup", "content": ALMANAC, "score": 0.9},
        {"url": f"{server_address}/tennis", "title": "Tennis", "content": "Tennis is played on grass.", "score": 0.2},
    ]
    return json.dumps({"results": rows})


@pytest.fixture(params=["searxng", "tavily"])
def web(request: pytest.FixtureRequest, serve: Serve) -> tuple[dict[str, Any], ScriptedServer]:
    """Settings for a provider on this machine, and its server; its pages lie on this machine too."""
    pages: dict[str, Any] = {"/cup": "<p>A page on loopback that must never be read.</p>"}
    posts: dict[str, Any] = {}
    server = serve(pages=pages, posts=posts)
    if request.param == "searxng":
        pages["/search"] = Reply(results(server.address), headers={"Content-Type": "application/json"})
        return {"web.provider": "searxng", "web.base_url": server.address}, server
    posts["/search"] = results(server.address)
    return {"web.provider": "tavily", "web.base_url": server.address, "web.api_key": "tvly-s3cret"}, server


Web = tuple[dict[str, Any], ScriptedServer]


@pytest.mark.parametrize("recipe", CORRECTING)
def test_the_web_corrects_and_pages_on_this_machine_are_never_read(library: Collection, web: Web, recipe: str) -> None:
    settings, server = web
    answer = library.ask(OUTSIDE, recipe=recipe, outside="web", settings=settings)
    (citation, *_) = answer.citations
    assert citation.quote.startswith("The football world cup in 1998 was won by France.")
    assert (citation.origin, citation.source) == (Origin.OUTSIDE, f"{server.address}/cup")
    assert citation.fetched is not None
    assert datetime.fromisoformat(citation.fetched).tzinfo
    told = step(answer, "correct")
    assert told["outcome"] == "snippets"
    assert {page["status"] for page in told["pages"]} == {"snippet"}
    assert all("refused" in page["error"] for page in told["pages"])
    assert any("no page could be read" in lack for lack in answer.degraded)
    assert [request.path.partition("?")[0] for request in server.requests] == ["/search"]
    assert (answer.usage.web_requests, answer.usage.hosts) == (1, (server.host,))


def test_only_the_search_words_leave(library: Collection, web: Web, serve: Serve) -> None:
    settings, server = web
    model = serve(Judge(words="football world cup winner 1998"))
    library.ask(OUTSIDE, recipe="crag", outside="web", settings={**settings, **using(model)})
    sent = json.dumps([[request.path, request.body] for request in server.requests])
    assert "football" in sent
    assert "country" not in sent
    assert "lighthouse" not in sent


def test_without_a_model_the_question_itself_is_searched_for_which_published_recipes_tell(
    library: Collection, web: Web
) -> None:
    settings, _ = web
    own = library.ask(OUTSIDE, outside="web", settings=settings)
    crag = library.ask(OUTSIDE, recipe="crag", outside="web", settings=settings)
    assert step(own, "correct")["words"] == step(crag, "correct")["words"] == OUTSIDE
    lack = "correct: no chat model is configured (llm.base_url, llm.model); the question itself was searched for"
    assert lack in crag.degraded
    assert lack not in own.degraded
    with pytest.raises(Degraded, match="the question itself was searched for"):
        library.ask(OUTSIDE, recipe="crag", outside="web", settings=settings, strict=True)


def test_z11_web_down_leaves_the_collection_or_nothing_and_never_an_error(library: Collection, serve: Serve) -> None:
    down = serve(pages={"/search": Reply(status=503)})
    settings = {"web.provider": "searxng", "web.base_url": down.address}
    incorrect = library.ask(OUTSIDE, recipe="crag", outside="web", settings=settings)
    assert (incorrect.abstained, incorrect.verdict) == (True, Verdict.INCORRECT)
    assert step(incorrect, "correct")["outcome"] == "nothing"
    assert any(lack.endswith("nothing to answer from") for lack in incorrect.degraded)
    assert "503" in " ".join(incorrect.degraded)
    ambiguous = library.ask(INSIDE, recipe="crag", outside="web", settings={**settings, "upper": 0.999})
    assert (ambiguous.abstained, ambiguous.verdict) == (False, Verdict.AMBIGUOUS)
    assert ambiguous.citations[0].origin is Origin.INSIDE
    assert step(ambiguous, "correct")["outcome"] == "collection"
    assert ambiguous.usage.web_requests >= 1


def test_the_key_of_a_search_is_neither_shown_nor_stored(library: Collection, web: Web) -> None:
    settings, _ = web
    answer = library.ask(OUTSIDE, recipe="crag", outside="web", settings=settings)
    stored = (library.folder / "traces" / f"{answer.trace}.json").read_text(encoding="utf-8")
    assert "tvly-s3cret" not in stored + repr(answer)


def test_a_question_that_is_answered_inside_sends_nothing(library: Collection, web: Web) -> None:
    settings, server = web
    answer = library.ask(INSIDE, outside="web", settings={**settings, "lower": 0.2, "upper": 0.5})
    assert server.requests == []
    assert (answer.usage.web_requests, answer.usage.hosts) == (0, ())


def test_a_search_never_goes_outside(library: Collection, web: Web, serve: Serve) -> None:
    settings, server = web
    model = serve(Judge())
    library.search(OUTSIDE, recipe="crag", settings={**settings, **using(model)})
    assert server.requests == []
    assert "words" not in stages(model)
