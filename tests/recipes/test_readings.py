"""Every reading of the sources that is a setting has an effect; the names are those of docs/methods.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.recipes.scripting import Judge, blocks, stage, stages, user_of, using
from thresher import recipes
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.collection.asking import Asking
from thresher.pipeline import Pipeline
from thresher.types import Chunk, Document, Judged, Verdict
from thresher_methods.semantic import theta_of
from thresher_methods.summaries import ExtractiveSummarizer, LLMSummarizer
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
Settings = Mapping[str, Any]
QUESTION = "When was the Kõpu lighthouse built?"
MODEL = {"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "m"}
"""Configured, and never asked."""

SENTENCES = [f"Sentence number {at} is about the harbour in the bay." for at in range(1, 13)]


def made(collection: Collection, recipe: str, settings: Settings | None = None) -> Pipeline:
    """The pipeline of a recipe as these settings make it."""
    return collection.opened.pipeline(recipe, collection.opened.configured(recipe, settings), collection.opened.parts())


def cut(recipe: str, text: str, settings: Settings, collection: Collection, *, level: str = "chunk") -> list[Chunk]:
    """The chunks a recipe makes of a text."""
    found = recipes.get(recipe)
    layout = found.index_config(found.configured(settings), collection.opened.parts())
    assert layout is not None
    return [one for one in layout.chunker(Document("d", "d.txt", "", text, "text")) if one.level == level]


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def retrieved(collection: Collection, recipe: str, settings: Settings, question: str = QUESTION) -> Judged:
    return made(collection, recipe, settings).retrieve(Asking(collection.opened).query(question))


def judged(collection: Collection, recipe: str, settings: Settings, question: str = QUESTION) -> Judged:
    pipeline = made(collection, recipe, settings)
    query = Asking(collection.opened).query(question)
    return pipeline.judge(query, pipeline.retrieve(query).kept)


def ask(collection: Collection, recipe: str, settings: Settings, **more: Any) -> Answer:
    return collection.ask(QUESTION, recipe=recipe, settings=settings, **more)


def names(result: Judged) -> list[str]:
    """The notes that stayed, best first."""
    return [hit.chunk.source.rsplit("/", 1)[-1] for hit in result.kept]


# --- ecrag ------------------------------------------------------------------------------------------------------------

TEXT = " ".join(
    [
        *SENTENCES[:7],
        "word " * 60 + "ends.",
        "Lighthouses warn ships of rocks. A lighthouse keeper lights the lamp for the ships.",
        "Cats chase mice. Mice eat cheese. Cheese is made of milk. Milk is given by cows. Cows graze on hills.",
    ]
)
SMALL = {"chunk.size": 150, "chunk.min": 0, "chunk.overlap": 0, "subchunk.size": 60, "subchunk.overlap": 0}
THETA = {"chunk.theta": 0.3}


@pytest.mark.parametrize(
    ("recipe", "base", "change"),
    [
        ("ecrag", SMALL, {"chunk.min": 100}),  # X1
        ("ecrag", SMALL, {"chunk.overlap": 60}),
        ("ecrag", SMALL, {"subchunk.tail": "literal"}),  # X4
        ("ecrag", SMALL, {"subchunk.overlap": 30}),  # X5
        ("chunkrag", {}, {"chunk.theta": 1}),  # Y1
        ("chunkrag", THETA, {"chunk.theta_mode": "percentile"}),
        ("chunkrag", THETA, {"chunk.theta_mode": "std"}),
        ("chunkrag", THETA, {"chunk.compare": "chunk_centroid"}),  # Y2
        ("chunkrag", {"chunk.theta": -1}, {"chunk.size": 100}),  # Y3
        ("hybrid", {}, {"chunk.size": 100, "chunk.overlap": 20}),
        ("crag", {}, {"chunk.size": 100}),
    ],
    ids=str,
)
def test_a_setting_of_how_documents_are_cut_changes_the_chunks(
    collection: Collection, recipe: str, base: Settings, change: Settings
) -> None:
    levels = ("chunk", "subchunk") if recipe == "ecrag" else ("chunk",)
    usual, other = (
        [texts(cut(recipe, TEXT, given, collection, level=level)) for level in levels]
        for given in (base, {**base, **change})
    )
    assert usual != other


def test_x2_and_x4_as_printed_a_long_sentence_is_a_chunk_and_tails_are_lost(collection: Collection) -> None:
    assert all(len(chunk.text) <= 150 for chunk in cut("ecrag", TEXT, SMALL, collection))
    assert max(len(chunk.text) for chunk in cut("ecrag-literal", TEXT, SMALL, collection)) >= 305
    (only,) = cut("ecrag", SENTENCES[0], {}, collection, level="subchunk")
    assert only.text == SENTENCES[0]
    assert cut("ecrag-literal", SENTENCES[0], {}, collection, level="subchunk") == []


LOOSE = {"kdm.cut": 0, "kdm.nonzero_rule": "off"}


@pytest.mark.parametrize(
    ("recipe", "base", "change"),
    [
        ("ecrag", {}, {"metric": "ip"}),  # X7
        ("ecrag", {}, {"kdm.combine": "sum"}),  # X8
        ("ecrag", {}, {"kdm.cosine_weight": 0.1}),
        ("ecrag", {}, {"kdm.cut": 0}),
        ("ecrag", {"kdm.cut": 0}, {"kdm.nonzero_rule": "off"}),  # X9
        ("ecrag", {"kdm.cut": 0}, {"kdm.nonzero_rule": "normalized"}),
        ("ecrag", LOOSE, {"kdm.fit": "retrieved"}),  # X11
        ("ecrag", LOOSE, {"kdm.idf": "okapi"}),
        ("chunkrag", {}, {"dedup.threshold": 0.01}),  # Y4
        ("chunkrag", {"dedup.threshold": 0.1}, {"dedup.vectors": "tfidf"}),  # Y7
        ("chunkrag", {}, {"fuse.method": "minmax"}),  # Y9
        ("chunkrag", {}, {"fuse.dense_weight": 0}),
        ("corrective", {}, {"fuse.dense_weight": 0}),
    ],
    ids=str,
)
def test_a_setting_of_retrieval_or_judge_changes_what_is_found(
    collection: Collection, recipe: str, base: Settings, change: Settings
) -> None:
    questions = ("the Kõpu lighthouse and the Semmering railway", "a lighthouse, a railway and Gouda")

    def seen(settings: Settings) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for question in questions:
            found += [(hit.score,) for hit in retrieved(collection, recipe, settings, question).kept]
            for one in judged(collection, recipe, settings, question).judgements:
                found.append((one.hit.chunk.id, one.keep, sorted(map(str, one.hit.scores.items()))))
        return found

    assert seen(base) != seen({**base, **change})


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({}, Verdict.CORRECT),
        ({"kdm.internal": 0.99}, Verdict.AMBIGUOUS),
        ({"kdm.internal": 0.99, "kdm.external": 0.98}, Verdict.INCORRECT),
    ],
)
def test_x10_the_absolute_confidence_routes_by_two_bounds(
    collection: Collection, settings: Settings, verdict: Verdict
) -> None:
    assert ask(collection, "ecrag", settings).verdict == verdict


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, ExtractiveSummarizer),
        (MODEL, LLMSummarizer),
        ({"summary": "llm", **MODEL}, LLMSummarizer),
        ({"summary": "extractive", **MODEL}, ExtractiveSummarizer),
        ({"summary": "text", **MODEL}, type(None)),
    ],
)
def test_x18_what_is_encoded_of_a_chunk_is_a_setting(collection: Collection, settings: Settings, kind: type) -> None:
    found = recipes.get("ecrag")
    layout = found.index_config(found.configured(settings), replace(collection.opened.parts(), indexing=True))
    assert layout is not None
    assert isinstance(layout.summarizer, kind)


# --- chunkrag ---------------------------------------------------------------------------------------------------------


def test_y1_theta_is_the_encoders_own_where_it_was_measured_and_else_the_published_one() -> None:
    assert theta_of("all-MiniLM-L6-v2-int8@8fd7f1cf8e1d") == theta_of("sentence-transformers/all-MiniLM-L6-v2") == 0.22
    assert theta_of("text-embedding-3-small") == theta_of("all-MiniLM-L6-v2-int8@8fd7f1cf8e1d", "percentile") == 0.8


def test_what_redundancy_leaves_is_sorted_by_its_similarity_to_the_searched_words(collection: Collection) -> None:
    question = "a railway, a lighthouse and ripe Gouda cheese for months"
    found = retrieved(collection, "chunkrag", {"chunk.theta": -1}, question)
    texts = [hit.chunk.text for hit in found.kept]
    encoder = collection.opened.parts().encoder(recipes.get("chunkrag").configured({}))
    cosines = encoder.encode(texts) @ encoder.encode_query(question)
    assert len(texts) > 2
    assert [hit.score.value for hit in found.kept] == pytest.approx(sorted(cosines, reverse=True))
    assert [hit.rank for hit in found.kept] == list(range(1, len(texts) + 1))


def prompts(server: ScriptedServer, name: str) -> list[str]:
    return [user_of(request.body) for request in server.asked() if stage(request.body) == name]


def test_y10_the_critic_sees_scores_and_years_or_judges_by_itself_and_may_be_a_second_model(
    collection: Collection, serve: Serve
) -> None:
    seeing, alone = serve(Judge()), serve(Judge())
    question = "What was built in 1854?"
    collection.ask(question, recipe="chunkrag", settings={**using(seeing), "critic.model": "another"})
    collection.ask(question, recipe="chunkrag-v1", settings=using(alone))
    assert "<earlier_scores>base " in prompts(seeing, "critic")[0]
    assert "<notes>" in prompts(seeing, "critic")[0]
    assert not any(tag in prompts(alone, "critic")[0] for tag in ("<notes>", "<earlier_scores>"))
    by_stage = {stage(request.body): request.body["model"] for request in seeing.asked()}
    assert by_stage.pop("critic") == "another"
    assert "another" not in by_stage.values()


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({"combine.reflection": 0}, ["rewrite", "relevance", "critic", "answer"]),
        ({"combine.critic": 0}, ["rewrite", "relevance", "reflection", "answer"]),
        ({"rewrite": False}, ["relevance", "reflection", "critic", "answer"]),
        ({"judge": "local"}, ["rewrite", "answer"]),
    ],
    ids=str,
)
def test_each_stage_can_be_left_out(collection: Collection, serve: Serve, settings: Settings, asked: list[str]) -> None:
    server = serve(Judge())
    assert not ask(collection, "chunkrag", {**using(server), **settings}).abstained
    assert stages(server) == asked


def test_y11_the_stages_are_weighed(collection: Collection, serve: Serve) -> None:
    by_stage = {"relevance": lambda q, t: 0.9, "reflection": lambda q, t: 0.6, "critic": lambda q, t: 0.0}
    server = serve(Judge(by_stage=by_stage))

    def score(**weights: float) -> float:
        return judged(collection, "chunkrag", using(server, rerank="none", **weights)).kept[0].score.value

    assert score() == pytest.approx(0.5)
    assert score(combine__critic=0) == pytest.approx(0.75)
    assert score(combine__critic=2) == pytest.approx(0.375)


@pytest.fixture
def graded(serve: Serve) -> ScriptedServer:
    """Scores of the three notes: 0.9, 0.5 and 0.1."""
    by_word = {"lighthouse": 0.9, "railway": 0.5, "Gouda": 0.1}
    return serve(Judge(score=lambda q, text: max(value for word, value in by_word.items() if word in text)))


WHOLE = {"chunk.theta": -1}
"""The notes as one chunk each."""


@pytest.mark.parametrize(
    ("settings", "stay"),
    [
        ({}, 2),  # mean 0.5, variance 0.107; the bundled reranker orders what stays
        ({"threshold": "fixed"}, 2),
        ({"threshold": "llm"}, 1),  # the model says 0.5, and only what is above it stays
        ({"threshold": "none"}, 3),
        ({"score_floor": 0.6}, 1),
        ({"score_floor": 0.95}, 0),
        ({"min_keep": 3}, 3),
    ],
    ids=str,
)
def test_y12_and_y13_where_the_scores_are_cut(
    collection: Collection, graded: ScriptedServer, settings: Settings, stay: int
) -> None:
    kept = judged(collection, "chunkrag", {**WHOLE, **using(graded), **settings}).kept
    assert len(kept) == stay
    assert [hit.score for hit in kept] == [hit.scores["rerank"] for hit in kept]


def test_y14_the_rewritten_question_is_searched_and_scored_and_the_question_answered(
    collection: Collection, serve: Serve
) -> None:
    rewritten, original = serve(Judge()), serve(Judge())
    answer = ask(collection, "chunkrag", using(rewritten))
    ask(collection, "chunkrag", using(original, score_query="original"))
    again = f"{QUESTION} (in other words)"
    for name in ("relevance", "reflection", "critic"):
        assert f"<query>{again}</query>" in prompts(rewritten, name)[0]
        assert f"<query>{QUESTION}</query>" in prompts(original, name)[0]
    assert prompts(rewritten, "answer")[0].endswith(f"Question: {QUESTION}")
    assert answer.steps[0].detail == {"question": QUESTION, "search": again}


def test_y16_the_best_stand_at_both_ends_where_that_is_wanted(collection: Collection, graded: ScriptedServer) -> None:
    def order(**more: Any) -> list[str]:
        ask(collection, "chunkrag", {**WHOLE, **using(graded, threshold="none", **more)})
        pieces = blocks("evidence", prompts(graded, "answer")[-1])
        return [next(word for word in ("lighthouse", "railway", "Gouda") if word in piece) for piece in pieces]

    assert order() == ["lighthouse", "railway", "Gouda"]
    assert order(edge_order=True) == ["lighthouse", "Gouda", "railway"]


# --- crag -------------------------------------------------------------------------------------------------------------


def test_z2_a_cross_encoder_is_taken_as_the_evaluator_itself(collection: Collection, serve: Serve) -> None:
    body = {"results": [{"index": at, "relevance_score": value} for at, value in enumerate((-0.98, -2.5, 0.8))]}
    server = serve(rerank=[_ranking(body)])
    result = judged(collection, "crag-paper", {"judge": server.rerank_url})
    assert sorted(one.score.value for one in result.judgements if one.score) == [-1.0, -0.98, 0.8]
    assert not result.notes.degraded


@pytest.fixture
def relevant(serve: Serve) -> ScriptedServer:
    """Finds every chunk relevant, and strips about the island and the light a little less."""
    less = {"Hiiumaa": 0.75, "nautical": 0.5}
    return serve(
        Judge(
            score=lambda q, text: 0.9 if "1531" in text else max([less.get(w, 0) for w in less if w in text] or [0.1])
        )
    )


@pytest.mark.parametrize(
    ("settings", "strips"),
    [
        ({}, ["1531", "Hiiumaa", "nautical"]),
        ({"refine.top_k": 2}, ["1531", "Hiiumaa"]),
        ({"refine.min_score": 0.6}, ["1531", "Hiiumaa"]),
        ({"refine.order": "score", "refine.top_k": 2}, ["1531", "Hiiumaa"]),
        ({"decompose": "selection"}, ["1531"]),
        ({"decompose": "fixed_num"}, ["1531"]),
        ({"decompose": "excerption"}, ["1531"]),
    ],
    ids=str,
)
def test_z7_and_z8_how_strips_are_cut_and_chosen(
    collection: Collection, relevant: ScriptedServer, settings: Settings, strips: list[str]
) -> None:
    ask(collection, "crag", {**using(relevant), **settings})
    pieces = blocks("evidence", prompts(relevant, "answer")[0])
    assert [next(word for word in ("1531", "Hiiumaa", "nautical") if word in piece) for piece in pieces] == strips


def test_z8_the_codes_preset_hands_over_whole_chunks(collection: Collection, serve: Serve) -> None:
    server = serve(Judge())
    ask(collection, "crag-code", using(server))
    whole = blocks("evidence", prompts(server, "answer")[0])
    assert len(whole) == 3
    assert sum(piece.count(".") for piece in whole) > 6


# --- corrective -------------------------------------------------------------------------------------------------------


PAPER = "\n".join(
    [
        "Lighthouses of the Baltic",
        *(f"Paragraph {at} tells of a lighthouse, of its keeper and of its light." for at in range(60)),
        "References",
        *(
            f"[{at}] A. Author and B. Writer. Lighthouse number {at}. Journal of Lights, 20{at:02}."
            for at in range(1, 20)
        ),
    ]
)


@pytest.mark.parametrize(
    ("recipe", "left_out"),
    [("corrective", True), ("ecrag", True), ("crag", False)],
)
def test_the_references_of_a_paper_are_left_out_where_the_recipe_says_so(
    collection: Collection, recipe: str, left_out: bool
) -> None:
    kept = " ".join(texts(cut(recipe, PAPER, {}, collection)))
    assert ("Journal of Lights" not in kept) is left_out
    assert all(f"Paragraph {at} " in kept for at in range(60))


@pytest.mark.parametrize("recipe", [name for name in recipes.names() if name != "no-retrieval"])
def test_the_title_stands_in_front_of_a_chunk_unless_a_preset_is_as_printed(
    collection: Collection, recipe: str
) -> None:
    found = recipes.get(recipe)
    layout = found.index_config(found.configured({}), collection.opened.parts())
    assert layout is not None
    assert layout.titled is (found.preset_of is None)


def test_an_upper_bound_alone_takes_the_lower_one_of_the_calibration_with_it(collection: Collection) -> None:
    decided = next(step for step in ask(collection, "corrective", {"upper": 0.1}).steps if step.name == "decide")
    assert (decided.detail["lower"], decided.detail["upper"]) == (0.1, 0.1)


def test_the_chat_model_rewrites_what_finds_nothing_good_and_judges_nothing_before_it_was_measured(
    collection: Collection, serve: Serve
) -> None:
    sure, unsure, alone = serve(Judge()), serve(Judge()), serve(Judge())
    wide = {"lower": 0.01, "upper": 0.999}
    ask(collection, "corrective", using(sure, lower=0.5, upper=0.5))
    answer = ask(collection, "corrective", using(unsure, **wide))
    ask(collection, "corrective", using(alone, **wide, judge="local", rewrite=False))
    assert stages(sure) == stages(alone) == ["answer"]
    assert stages(unsure) == ["rewrite", "answer"]
    retrieve = next(step for step in answer.steps if step.name == "retrieve")
    assert retrieve.detail["second_search"] == f"{QUESTION} (in other words)"


def test_one_word_is_at_most_ambiguous_in_our_own_recipe(collection: Collection) -> None:
    answer = collection.ask("lighthouse", recipe="corrective", settings={"lower": 0.0001, "upper": 0.0002})
    assert answer.verdict == Verdict.AMBIGUOUS


# --- presets, differences, secrets ------------------------------------------------------------------------------------

PRESETS = {
    "crag-paper": "upper lower bounds refine.min_score search.style",
    "crag-code": "upper lower bounds decompose refine.top_k refine.min_score refine.order search.style web.sites",
    "ecrag-literal": "subchunk.tail kdm.combine kdm.nonzero_rule kdm.fit kdm.idf kdm.route",
    "chunkrag-v1": "chunk.theta dedup.vectors critic.sees_scores threshold",
    "hybrid-literal": "fuse.method",
}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_differs_from_its_recipe_in_what_was_printed_and_in_nothing_else(preset: str) -> None:
    of = recipes.get(preset).preset_of
    assert of is not None
    mine, theirs = (recipes.get(name).describe(recipes.get(name).configured({})) for name in (preset, of))
    differing = {key for key in mine["settings"] if mine["settings"][key] != theirs["settings"][key]}
    assert differing == set(PRESETS[preset].split())


SECRETS = {
    "llm.api_key": "s3cret-1",
    "rerank_api_key": "s3cret-3",
    "web.api_key": "s3cret-4",
    "embeddings.api_key": "s3cret-5",
}


@pytest.mark.parametrize("recipe", ["chunkrag", "corrective", "crag", "ecrag"])
def test_secrets_are_neither_shown_nor_stored(collection: Collection, serve: Serve, recipe: str) -> None:
    found = recipes.get(recipe)
    own = {key: value for key, value in SECRETS.items() if key in found.describe(found.configured({}))["settings"]}
    assert len(own) >= 3
    told = json.dumps(found.describe(found.configured(own)), default=str)
    answer = ask(collection, recipe, {**using(serve(Judge())), **own})
    stored = (collection.folder / "traces" / f"{answer.trace}.json").read_text(encoding="utf-8")
    assert "s3cret" not in told + stored + repr(found.configured(own)) + repr(answer)
    assert not set(own) & set(collection.traces.request(answer.trace).settings)


def _ranking(body: dict[str, Any]) -> Any:
    from thresher_testing.llm_server import Reply

    return Reply(body=json.dumps(body))
