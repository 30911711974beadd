"""Every reading of the sources that is a setting has an effect; the names are those of docs/methods.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.recipes.scripting import Judge, blocks, stage, stages, user_of, using
from thresher import recipes
from thresher.answer import Answer
from thresher.chunking.semantic import theta_of
from thresher.chunking.summaries import ExtractiveSummarizer, LLMSummarizer
from thresher.collection import Collection
from thresher.errors import UnknownSetting, UsageError
from thresher.pipeline import Pipeline
from thresher.types import Chunk, ClaimState, Document, Judged, Verdict
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
Settings = Mapping[str, Any]
QUESTION = "When was the Kõpu lighthouse built?"
MODEL = {"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "m"}
"""Configured, and never asked."""

SENTENCES = [f"Sentence number {at} is about the harbour in the bay." for at in range(1, 13)]


def made(collection: Collection, recipe: str, settings: Settings | None = None) -> Pipeline:
    """The pipeline of a recipe as these settings make it."""
    return collection._pipeline(recipe, collection._configured(recipe, settings), collection._parts())


def cut(recipe: str, text: str, settings: Settings, collection: Collection, *, level: str = "chunk") -> list[Chunk]:
    """The chunks a recipe makes of a text."""
    found = recipes.get(recipe)
    layout = found.index_config(found.configured(settings), collection._parts())
    assert layout is not None
    return [one for one in layout.chunker(Document("d", "d.txt", "", text, "text")) if one.level == level]


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def retrieved(collection: Collection, recipe: str, settings: Settings, question: str = QUESTION) -> Judged:
    return made(collection, recipe, settings).retrieve(collection._query(question, 5, None))


def judged(collection: Collection, recipe: str, settings: Settings, question: str = QUESTION) -> Judged:
    pipeline = made(collection, recipe, settings)
    query = collection._query(question, 5, None)
    return pipeline.judge(query, pipeline.retrieve(query).kept)


def ask(collection: Collection, recipe: str, settings: Settings, **more: Any) -> Answer:
    return collection.ask(QUESTION, recipe=recipe, settings=settings, **more)


def names(result: Judged) -> list[str]:
    """The notes that stayed, best first."""
    return [hit.chunk.source.rsplit("/", 1)[-1] for hit in result.kept]


# --- ecrag ------------------------------------------------------------------------------------------------------------

SMALL = {"chunk.size": 150, "chunk.min": 0, "chunk.overlap": 0, "subchunk.size": 60, "subchunk.overlap": 0}


def test_x1_overlap_minimum_and_merging_are_settings(collection: Collection) -> None:
    text = " ".join(SENTENCES[:7])
    plain = cut("ecrag", text, SMALL, collection)
    assert [chunk.text.count(".") for chunk in plain] == [2, 2, 2, 1]
    merged = cut("ecrag", text, {**SMALL, "chunk.min": 100}, collection)
    assert [chunk.text.count(".") for chunk in merged] == [2, 2, 3]
    assert len(cut("ecrag", text, {**SMALL, "chunk.min": 0}, collection)) == 4
    shared = cut("ecrag", text, {**SMALL, "chunk.overlap": 60}, collection)
    assert shared[1].start < shared[0].end
    literal = cut("ecrag-literal", text, {**SMALL, "chunk.min": 100, "chunk.overlap": 60}, collection)
    assert literal[1].start >= literal[0].end
    assert literal[-1].text.count(".") == 1


def test_x2_a_sentence_longer_than_a_chunk_is_split_unless_as_printed(collection: Collection) -> None:
    text = "word " * 60 + "ends."
    assert all(len(chunk.text) <= 150 for chunk in cut("ecrag", text, SMALL, collection))
    assert [len(chunk.text) for chunk in cut("ecrag-literal", text, SMALL, collection)] == [305]


def test_x4_the_tail_is_kept_to_the_end_and_lost_as_printed(collection: Collection) -> None:
    text = " ".join(SENTENCES[:3])
    kept = cut("ecrag", text, SMALL, collection, level="subchunk")
    assert kept[-1].text.endswith(SENTENCES[2])
    lost = cut("ecrag", text, {**SMALL, "subchunk.tail": "literal"}, collection, level="subchunk")
    assert len(lost) < len(kept)
    assert not lost[-1].text.endswith(SENTENCES[2])
    (only,) = cut("ecrag", SENTENCES[0], {}, collection, level="subchunk")  # a chunk that fits
    assert only.text == SENTENCES[0]
    assert cut("ecrag-literal", SENTENCES[0], {}, collection, level="subchunk") == []


def test_x5_subchunks_overlap_by_characters_or_not(collection: Collection) -> None:
    def overlaps(characters: int) -> list[int]:
        settings = {**SMALL, "subchunk.size": 110, "subchunk.overlap": characters}
        found = cut("ecrag", " ".join(SENTENCES[:3]), {**settings, "chunk.size": 500}, collection, level="subchunk")
        return [one.end - other.start for one, other in pairwise(found)]

    assert overlaps(0)[0] <= 0 < overlaps(55)[0] <= 55


def test_x7_both_metrics_order_alike_and_each_ranks_by_its_own(collection: Collection) -> None:
    l2, ip = retrieved(collection, "ecrag", {}), retrieved(collection, "ecrag", {"metric": "ip"})
    assert [hit.chunk.id for hit in l2.kept] == [hit.chunk.id for hit in ip.kept]
    assert (l2.kept[0].score.scale.name, ip.kept[0].score.scale.name) == ("L2 distance", "cosine")
    assert {"l2", "dense"} <= set(l2.kept[0].scores)


def test_x8_the_confidence_is_weighted_or_a_sum(collection: Collection) -> None:
    weighted, summed = (judged(collection, "ecrag", {"kdm.combine": kind}) for kind in ("weighted", "sum"))
    assert weighted.kept[0].score.value == pytest.approx(1)
    assert summed.kept[0].score.value == pytest.approx(2)
    assert (
        recipes.get("ecrag")
        .describe(recipes.get("ecrag").configured({"kdm.combine": "sum"}))["slots"]["judge"]
        .startswith("confidence cosine + BM25")
    )
    lean = judged(collection, "ecrag", {"kdm.cosine_weight": 0.1})
    assert [hit.scores["absolute confidence"] for hit in lean.kept] != [
        hit.scores["absolute confidence"] for hit in weighted.kept
    ]


@pytest.mark.parametrize(
    ("question", "raw", "normalized"),
    [
        ("the Kõpu lighthouse and the Semmering railway", 2, 2),  # the third shares no word and is the worst of both
        ("a lighthouse, a railway and Gouda", 3, 2),  # all share a word, and one must be the worst
    ],
)
def test_x9_the_rule_about_zeros_drops_none_some_or_the_worst(
    collection: Collection, question: str, raw: int, normalized: int
) -> None:
    def kept(rule: str) -> int:
        return len(judged(collection, "ecrag", {"kdm.nonzero_rule": rule, "kdm.cut": 0}, question).kept)

    assert kept("off") == 3
    assert kept("raw") == raw
    assert kept("normalized") <= normalized


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


@pytest.mark.parametrize("change", [{"kdm.fit": "retrieved"}, {"kdm.idf": "okapi"}])
def test_x11_the_statistics_of_bm25_are_settings(collection: Collection, change: Settings) -> None:
    question = "the lighthouse was built and the railway was opened in which year"

    def absolute(settings: Settings) -> dict[str, float]:
        result = judged(collection, "ecrag", settings, question)
        return {one.hit.chunk.id: one.hit.scores["absolute confidence"].value for one in result.judgements}

    usual = {"kdm.fit": "corpus", "kdm.cut": 0, "kdm.nonzero_rule": "off"}
    assert absolute(usual) != absolute({**usual, **change})


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
    layout = found.index_config(found.configured(settings), replace(collection._parts(), indexing=True))
    assert layout is not None
    assert isinstance(layout.summarizer, kind)


def test_ecrag_may_be_judged_by_the_other_judges(collection: Collection, serve: Serve) -> None:
    server = serve(Judge())
    answer = ask(collection, "ecrag", using(server, judge="llm", summary="extractive"))
    assert stages(server) == ["relevance", "answer"]  # subchunks are handed on whole
    assert answer.verdict == Verdict.CORRECT
    assert ask(collection, "ecrag", {"judge": "local"}).verdict == Verdict.CORRECT


# --- chunkrag ---------------------------------------------------------------------------------------------------------

TWO_SUBJECTS = (
    "Lighthouses warn ships of rocks. A lighthouse keeper lights the lamp for the ships. "
    "Cheese ripens in the cellar. Gouda is a cheese that ripens for months."
)


def test_y1_theta_cuts_more_often_the_higher_it_is(collection: Collection) -> None:
    pieces = {theta: len(cut("chunkrag", TWO_SUBJECTS, {"chunk.theta": theta}, collection)) for theta in (-1, 0.3, 1)}
    assert pieces[-1] == 1 < pieces[0.3] < pieces[1] == 4
    assert len(cut("chunkrag", TWO_SUBJECTS, {}, collection)) == pieces[0.3]  # the bundled encoder's own: 0.22
    assert recipes.get("chunkrag-v1").configured({}).chunk.theta == 0.7  # type: ignore[attr-defined]


def test_y1_theta_is_the_encoders_own_where_it_was_measured_and_else_the_published_one() -> None:
    assert theta_of("all-MiniLM-L6-v2-int8@8fd7f1cf8e1d") == theta_of("sentence-transformers/all-MiniLM-L6-v2") == 0.22
    assert theta_of("text-embedding-3-small") == theta_of("all-MiniLM-L6-v2-int8@8fd7f1cf8e1d", "percentile") == 0.8


def test_y2_a_sentence_is_compared_with_the_one_before_or_with_the_chunk(collection: Collection) -> None:
    wandering = "Cats chase mice. Mice eat cheese. Cheese is made of milk. Milk is given by cows. Cows graze on hills."
    by_theta = [
        [texts(cut("chunkrag", wandering, {"chunk.theta": at / 20, "chunk.compare": compare}, collection))
         for compare in ("previous_sentence", "chunk_centroid")]
        for at in range(2, 12)
    ]  # fmt: skip
    assert any(previous != centroid for previous, centroid in by_theta)


def test_y3_no_chunk_is_longer_than_the_bound(collection: Collection) -> None:
    text = "word " * 60 + "ends. " + TWO_SUBJECTS
    found = cut("chunkrag", text, {"chunk.size": 100, "chunk.theta": -1}, collection)
    assert max(len(chunk.text) for chunk in found) <= 100
    assert max(len(chunk.text) for chunk in cut("chunkrag", text, {"chunk.theta": -1}, collection)) > 100


def test_y4_and_y7_redundancy_has_a_threshold_and_is_a_matter_of_vectors_words_or_either(
    collection: Collection,
) -> None:
    """At this threshold what is near in meaning and what shares words are not the same notes."""

    def kept(vectors: str, threshold: float) -> int:
        found = retrieved(collection, "chunkrag", {"dedup.vectors": vectors, "dedup.threshold": threshold})
        assert {"dense", "lexical"} <= set().union(*(hit.scores for hit in found.kept))  # Y8: both lists
        return len(found.kept)

    assert kept("embedding", 0.01) < kept("embedding", 1)
    assert kept("either", 0.1) <= kept("embedding", 0.1) < kept("tfidf", 0.1)


def test_y9_lists_are_fused_by_ranks_or_by_scores_and_a_weight_of_zero_is_without(collection: Collection) -> None:
    by_rank, by_score = (retrieved(collection, "chunkrag", {"fuse.method": kind}) for kind in ("rrf", "minmax"))
    best, sure = (max(hit.scores["fused"].value for hit in found.kept) for found in (by_rank, by_score))
    assert best == pytest.approx(1 / 61)  # first of both lists, half a weight each, constant 60
    assert sure == pytest.approx(1)
    lexical = retrieved(collection, "chunkrag", {"fuse.dense_weight": 0, "fuse.lexical_weight": 1})
    fused = sorted(hit.scores["fused"].value for hit in lexical.kept)
    assert fused[0] < fused[-1] == pytest.approx(1 / 61)


def test_what_redundancy_leaves_is_sorted_by_its_similarity_to_the_searched_words(collection: Collection) -> None:
    question = "a railway, a lighthouse and ripe Gouda cheese for months"
    found = retrieved(collection, "chunkrag", {"chunk.theta": -1}, question)
    texts = [hit.chunk.text for hit in found.kept]
    encoder = collection._parts().encoder(recipes.get("chunkrag").configured({}))
    cosines = encoder.encode(texts) @ encoder.encode_query(question)
    assert len(texts) > 2
    assert [hit.score.value for hit in found.kept] == pytest.approx(sorted(cosines, reverse=True))
    assert [hit.rank for hit in found.kept] == list(range(1, len(texts) + 1))


def test_the_reranker_orders_last_and_by_default(collection: Collection, graded: ScriptedServer) -> None:
    for recipe in ("chunkrag", "chunkrag-v1"):
        kept = judged(collection, recipe, {**WHOLE, **using(graded, threshold="none")}).kept
        assert [hit.score for hit in kept] == [hit.scores["rerank"] for hit in kept]
    scored = judged(collection, "chunkrag", {**WHOLE, **using(graded, threshold="none", rerank="none")}).kept
    assert [hit.score.value for hit in scored] == [0.9, 0.5, 0.1]
    assert not any("rerank" in hit.scores for hit in scored)


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
        ({}, 2),  # mean 0.5, variance 0.107
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


def test_y13_where_most_tie_at_the_top_all_of_them_stay(collection: Collection, serve: Serve) -> None:
    """0.9, 0.9 and 0.8: mean + deviation is 0.914, above every score; as printed nothing would stay."""
    server = serve(Judge(score=lambda q, text: 0.8 if "Gouda" in text else 0.9))
    kept = judged(collection, "chunkrag", {**WHOLE, **using(server, rerank="none")}).kept
    assert {hit.score.value for hit in kept} == {0.9}
    assert len(kept) == 2
    assert judged(collection, "chunkrag", {**WHOLE, **using(server), "min_keep": 0}).kept == ()


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


@pytest.mark.parametrize(
    ("score", "bounds", "verdict"),
    [
        (0.7, "blog", Verdict.AMBIGUOUS),
        (0.7, "code", Verdict.CORRECT),
        (0.3, "blog", Verdict.INCORRECT),
        (0.3, "paper", Verdict.AMBIGUOUS),
    ],
)
def test_z1_exactly_seven_and_three_tenths_end_to_end(
    collection: Collection, serve: Serve, score: float, bounds: str, verdict: Verdict
) -> None:
    answer = ask(collection, "crag", using(serve(Judge(score=lambda q, text: score)), bounds=bounds))
    assert answer.verdict == verdict
    assert any(fate.dropped_by != "judge" for fate in answer.chunks) == (verdict != Verdict.INCORRECT)


@pytest.mark.parametrize(
    ("recipe", "settings", "verdict"),
    [
        ("crag", {"upper": 0.5}, Verdict.CORRECT),
        ("crag", {"lower": 0.65}, Verdict.INCORRECT),
        ("crag-paper", {"upper": 0.19, "lower": -0.9}, Verdict.CORRECT),  # 0.6 is 0.2 on that scale
        ("crag-paper", {"upper": 0.21, "lower": -0.9}, Verdict.AMBIGUOUS),
    ],
    ids=str,
)
def test_z2_the_bounds_are_on_the_scale_of_the_evaluator(
    collection: Collection, serve: Serve, recipe: str, settings: Settings, verdict: Verdict
) -> None:
    server = serve(Judge(score=lambda q, text: 0.6))
    assert ask(collection, recipe, {**using(server), **settings}).verdict == verdict


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
        ({"refine.top_k": 1}, ["1531"]),
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


def test_z7_strips_stand_as_in_the_document_or_by_their_score(collection: Collection, serve: Serve) -> None:
    server = serve(Judge(score=lambda q, text: 0.9 if "nautical" in text else 0.5))
    shown = {}
    for order in ("document", "score"):
        ask(collection, "crag", using(server, refine__order=order))
        shown[order] = blocks("evidence", prompts(server, "answer")[-1])
    assert shown["document"] != shown["score"]
    assert sorted(shown["document"]) == sorted(shown["score"])
    assert "nautical" in shown["score"][0]


def test_z8_the_codes_preset_hands_over_whole_chunks(collection: Collection, serve: Serve) -> None:
    server = serve(Judge())
    ask(collection, "crag-code", using(server))
    whole = blocks("evidence", prompts(server, "answer")[0])
    assert len(whole) == 3
    assert sum(piece.count(".") for piece in whole) > 6


@pytest.mark.parametrize("batch", [1, 2, 20])
def test_chunks_of_one_call_are_a_setting(collection: Collection, serve: Serve, batch: int) -> None:
    server = serve(Judge())
    judged(collection, "crag", using(server, batch=batch))
    assert len(stages(server)) == {1: 3, 2: 2, 20: 1}[batch]


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
    [("corrective", True), ("ecrag", True), ("crag", False), ("rag", False), ("hybrid", False), ("chunkrag", False)],
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
    layout = found.index_config(found.configured({}), collection._parts())
    assert layout is not None
    assert layout.titled is (found.preset_of is None)


def test_an_upper_bound_alone_takes_the_lower_one_of_the_calibration_with_it(collection: Collection) -> None:
    decided = next(step for step in ask(collection, "corrective", {"upper": 0.1}).steps if step.name == "decide")
    assert (decided.detail["lower"], decided.detail["upper"]) == (0.1, 0.1)


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"lower": 0.1, "upper": 0.2}, {Verdict.CORRECT}),
        ({"lower": 0.01, "upper": 1}, {Verdict.AMBIGUOUS, Verdict.UNSURE}),
        ({"lower": 0.999, "upper": 1}, {Verdict.INCORRECT}),
    ],
    ids=lambda value: str(value if isinstance(value, dict) else sorted(value)),
)
def test_the_bounds_of_the_default_recipe_can_be_given(
    collection: Collection, settings: Settings, verdict: set[Verdict]
) -> None:
    assert ask(collection, "corrective", settings).verdict in verdict


def test_the_chat_model_rewrites_what_finds_nothing_good_and_judges_what_the_local_judge_cannot_tell(
    collection: Collection, serve: Serve
) -> None:
    sure, unsure, alone = serve(Judge()), serve(Judge()), serve(Judge())
    wide = {"lower": 0.01, "upper": 0.999}
    ask(collection, "corrective", using(sure, lower=0.5, upper=0.5))
    answer = ask(collection, "corrective", using(unsure, **wide))
    ask(collection, "corrective", using(alone, **wide, judge="local", rewrite=False))
    assert stages(sure) == stages(alone) == ["answer"]
    assert stages(unsure)[:2] == ["rewrite", "grades"]
    retrieve = next(step for step in answer.steps if step.name == "retrieve")
    assert retrieve.detail["second_search"] == f"{QUESTION} (in other words)"


def test_one_word_is_at_most_ambiguous_in_our_own_recipe_and_as_the_scores_say_in_a_published_one(
    collection: Collection, serve: Serve
) -> None:
    server = serve(Judge(score=lambda q, text: 0.9))
    sure = {"lower": 0.0001, "upper": 0.0002}
    own, published = (
        collection.ask("lighthouse", recipe=recipe, settings=settings)
        for recipe, settings in (("corrective", sure), ("crag", using(server)))
    )
    assert (own.verdict, published.verdict) == (Verdict.AMBIGUOUS, Verdict.CORRECT)
    decided = next(step for step in own.steps if step.name == "decide")
    assert decided.detail["reason"].endswith("one word is no question")


def test_verification_can_be_left_out(collection: Collection, serve: Serve) -> None:
    server = serve(Judge(answer=lambda q, pieces: "The Kõpu lighthouse stands on the Kõpu hill [1]."))
    certain = using(server, lower=0.5, upper=0.5)
    strict = ask(collection, "corrective", {**certain, "answer.check": "strict"})
    taken = ask(collection, "corrective", {**certain, "answer.check": "none"})
    assert stages(server) == ["answer", "answer"]
    assert "hill" not in strict.text
    assert taken.text == "The Kõpu lighthouse stands on the Kõpu hill. [1]"
    assert taken.sentences[0].state is not ClaimState.SUPPORTED


def test_the_weights_of_the_lists_and_redundancy_are_settings(collection: Collection) -> None:
    usual = retrieved(collection, "corrective", {})
    lexical = retrieved(collection, "corrective", {"fuse.dense_weight": 0})
    assert [hit.score.value for hit in usual.kept] != [hit.score.value for hit in lexical.kept]
    corrective = recipes.get("corrective")
    assert (
        "redundancy 0.01"
        in corrective.describe(corrective.configured({"dedup.threshold": "0.01"}))["slots"]["retrieve"]
    )


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


@pytest.mark.parametrize(
    ("recipe", "wrong", "right"),
    [
        ("crag", "uper", "upper"),
        ("crag", "top_k", "refine.top_k"),
        ("ecrag", "kdm.combination", "kdm.combine"),
        ("corrective", "web.provder", "web.provider"),
    ],
)
def test_an_unknown_key_names_the_nearest(collection: Collection, recipe: str, wrong: str, right: str) -> None:
    with pytest.raises(UnknownSetting, match=f"did you mean '{right}'"):
        ask(collection, recipe, {wrong: 1})


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        ("crag", {"bounds": "guide"}),
        ("crag", {"refine.top_k": 0}),
        ("ecrag", {"kdm.cosine_weight": 1.5}),
        ("ecrag", {"summary": "bart"}),
        ("corrective", {"upper": 1.5}),
        ("corrective", {"web.fields": "link=url"}),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_is_refused_with_its_key(
    collection: Collection, recipe: str, settings: Settings
) -> None:
    with pytest.raises(UsageError) as caught:
        ask(collection, recipe, settings)
    assert f"setting {next(iter(settings))}" in str(caught.value)


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
