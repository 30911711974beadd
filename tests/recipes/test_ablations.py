"""Every ablation is a variant of a recipe: it changes what it says and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.recipes.scripting import Judge, blocks, stage, stages, user_of, using
from thresher import recipes
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.collection.asking import Asking
from thresher.settings import check_known, flat, keys
from thresher.types import Origin, Verdict
from thresher_evals.asker import parse_variant
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "When was the Kõpu lighthouse built?"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "ablations.md"
VARIANTS = sorted(set(re.findall(r"`((?:crag|ecrag|chunkrag|hybrid)\[[^`]*\])`", PAGE.read_text(encoding="utf-8"))))

NIGHT = "The Kõpu lighthouse was lit again in 1949. Its keepers were Estonian. The lamp turns every ten seconds."


@pytest.fixture(scope="module")
def both(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """The notes, and another collection to look into."""
    home = tmp_path_factory.mktemp("ablations")
    other = home / "night.txt"
    other.write_text(NIGHT, encoding="utf-8")
    with thresher.open(home, collection="elsewhere") as outside:
        outside.add(other)
    with thresher.open(home) as opened:
        opened.add(notes, recipe=["crag", "ecrag", "hybrid"])
        yield opened


def ask(collection: Collection, variant: str, server: ScriptedServer | None = None) -> Answer:
    """The answer of a variant that may look elsewhere."""
    one = parse_variant(variant)
    settings: dict[str, Any] = {**(using(server) if server else {}), **one.settings}
    outside = "collection:elsewhere" if recipes.get(one.recipe).corrects else None
    return collection.ask(QUESTION, recipe=one.recipe, outside=outside, settings=settings)


def graded(relevance: float) -> Judge:
    """Every chunk inside is worth this much, and so is every strip; what is outside is good."""
    return Judge(score=lambda q, text: 0.9 if "lamp turns" in text or "1949" in text else relevance)


def used(answer: Answer) -> set[Origin]:
    """Where the chunks came from that were used."""
    return {fate.hit.origin for fate in answer.chunks if fate.kept}


def step(answer: Answer, name: str) -> Any:
    return next(one for one in answer.steps if one.name == name)


def handed_over(server: ScriptedServer) -> list[str]:
    """The pieces of evidence that the generator was shown."""
    (prompt,) = (user_of(request.body) for request in server.asked() if stage(request.body) == "answer")
    return blocks("evidence", prompt)


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_of_the_page_can_be_run(variant: str, collection: Collection) -> None:
    one = parse_variant(variant)
    recipe = recipes.get(one.recipe)
    check_known(one.settings, keys(recipe.settings))
    assert len(VARIANTS) > 50
    configured = recipe.configured(one.settings)
    usual = flat(recipe.configured({}))
    told = {key: value for key, value in flat(configured).items() if value != usual[key]}
    assert set(told) <= set(one.settings)
    assert all(recipe.describe(configured)["slots"].values())
    recipe.index_config(configured, collection.opened.parts())


# --- actions ----------------------------------------------------------------------------------------------------------

INSIDE, OUTSIDE = {Origin.INSIDE}, {Origin.OUTSIDE}


@pytest.mark.parametrize(
    ("actions", "relevance", "verdict", "origins"),
    [
        ("all", 0.9, Verdict.CORRECT, INSIDE),
        ("all", 0.5, Verdict.AMBIGUOUS, INSIDE | OUTSIDE),
        ("all", 0.1, Verdict.INCORRECT, OUTSIDE),
        ("without-correct", 0.9, Verdict.AMBIGUOUS, INSIDE | OUTSIDE),
        ("without-incorrect", 0.5, Verdict.AMBIGUOUS, INSIDE | OUTSIDE),
        ("without-ambiguous", 0.5, Verdict.INCORRECT, OUTSIDE),
        ("only-correct", 0.5, Verdict.CORRECT, INSIDE),
        ("only-incorrect", 0.9, Verdict.INCORRECT, OUTSIDE),
        ("only-ambiguous", 0.9, Verdict.AMBIGUOUS, INSIDE | OUTSIDE),
    ],
)
def test_an_action_that_is_taken_away_is_not_acted_on(
    both: Collection, serve: Serve, actions: str, relevance: float, verdict: Verdict, origins: set[Origin]
) -> None:
    answer = ask(both, f"crag[actions={actions}]", serve(graded(relevance)))
    assert (answer.verdict, used(answer)) == (verdict, origins)


def test_an_incorrect_retrieval_that_is_used_all_the_same_goes_whole_to_the_refinement(
    both: Collection, serve: Serve
) -> None:
    answer = ask(both, "crag[actions=only-correct,refine.min_score=0]", serve(graded(0.1)))
    assert answer.verdict != Verdict.INCORRECT
    assert Origin.INSIDE in used(answer)
    assert step(answer, "judge").kept == 3
    assert "incorrect, taken as" in step(answer, "decide").detail["reason"]


# --- refinement, selection, rewriting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "inside", "outside"),
    [
        ("all", "strips", "strips"),
        ("inside", "strips", "whole"),
        ("outside", "whole", "strips"),
        ("none",) + ("whole",) * 2,
    ],
)
def test_chunks_are_refined_or_handed_over_whole_by_where_they_come_from(
    both: Collection, serve: Serve, of: str, inside: str, outside: str
) -> None:
    judge = Judge(score=lambda q, text: 0.5 if "1531" in text else 0.6 if "1949" in text else 0.1)
    server = serve(judge)
    ask(both, f"crag[refine.of={of}]", server)
    pieces = handed_over(server)
    ours = " ".join(piece for piece in pieces if "1531" in piece)
    theirs = " ".join(piece for piece in pieces if "1949" in piece)
    assert ("Hiiumaa" in ours) == (inside == "whole")
    assert ("lamp turns" in theirs) == (outside == "whole")
    assert [("1531" in piece, "1949" in piece) for piece in pieces] == [(True, False), (False, True)]


@pytest.mark.parametrize("recipe", ["crag", "corrective"])
def test_without_refinement_the_slot_does_nothing_and_every_hit_has_a_fate(both: Collection, recipe: str) -> None:
    variant = f"{recipe}[refine.of=none]"
    configured = recipes.get(recipe).configured({"refine.of": "none"})
    assert recipes.get(recipe).describe(configured)["slots"]["refine"].endswith("as_is")
    answer = ask(both, variant)
    assert all(fate.reason for fate in answer.chunks)
    assert not any(fate.dropped_by == "refine" for fate in answer.chunks) or recipe == "corrective"


def test_contradictions_between_whole_chunks_and_strips_are_found(tmp_path: Path, serve: Serve) -> None:
    for name, year in (("one", 1531), ("two", 1631)):
        (tmp_path / f"{name}.txt").write_text(f"The Kõpu lighthouse was built in {year}.", encoding="utf-8")
    with thresher.open(tmp_path / "home", collection="elsewhere") as outside:
        outside.add(tmp_path / "two.txt")
    with thresher.open(tmp_path / "home") as opened:
        opened.add(tmp_path / "one.txt", recipe="crag")
        usual, partly = (ask(opened, variant, serve(graded(0.5))) for variant in ("crag", "crag[refine.of=inside]"))
    assert len(usual.conflicts) == len(partly.conflicts) == 1


def test_without_rewriting_the_question_itself_is_searched_for(both: Collection, serve: Serve) -> None:
    usual, plain = serve(graded(0.1)), serve(graded(0.1))
    rewritten = step(ask(both, "crag", usual), "correct").detail["words"]
    answer = ask(both, "crag[search.style=question]", plain)
    assert (rewritten, step(answer, "correct").detail["words"]) == ("search words from the model", QUESTION)
    assert "words" in stages(usual)
    assert [one for one in stages(usual) if one != "words"] == stages(plain)
    assert any("the question itself was searched for" in lack for lack in ask(both, "crag").degraded)
    assert not any("searched for" in lack for lack in ask(both, "crag[search.style=question]").degraded)


# --- ecrag ------------------------------------------------------------------------------------------------------------


def test_flat_retrieval_finds_subchunks_of_chunks_that_the_summaries_would_not_lead_to(both: Collection) -> None:
    def looked_into(variant: str) -> tuple[set[str], list[Any]]:
        one = parse_variant(variant)
        pipeline = both.opened.pipeline(
            one.recipe, both.opened.configured(one.recipe, one.settings), both.opened.parts()
        )
        found = pipeline.retrieve(Asking(both.opened).query(QUESTION, 1))
        return {hit.chunk.document_id for hit in found.kept}, list(found.notes.facts["chunks"])

    documents, chunks = looked_into("ecrag[coarse=1]")
    assert (len(documents), len(chunks)) == (1, 1)
    documents, chunks = looked_into("ecrag[coarse=1,flat=true]")
    assert (len(documents), chunks) == (3, [])


def test_without_routing_there_is_no_verdict_and_nobody_looks_outside(both: Collection) -> None:
    far = "kdm.internal=0.99,kdm.external=0.98"
    assert ask(both, f"ecrag[{far}]").verdict == Verdict.INCORRECT
    answer = ask(both, f"ecrag[{far},kdm.route=off]")
    assert (answer.verdict, used(answer)) == (None, INSIDE)
    assert step(answer, "correct").detail["outcome"] == "not asked"
    assert ask(both, "ecrag[judge=local,kdm.route=off]").verdict is None


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["hybrid", "chunkrag"])
@pytest.mark.parametrize(("weight", "lists"), [("lexical", (True, False)), ("dense", (False, True))])
def test_a_list_that_weighs_nothing_is_not_asked(
    both: Collection, recipe: str, weight: str, lists: tuple[bool, bool]
) -> None:
    retrieved = step(ask(both, f"{recipe}[fuse.{weight}_weight=0]"), "retrieve")
    assert tuple(bool(number) for number in retrieved.detail["lists"]) == lists
    assert all((weight not in hit.scores) for hit in retrieved.value.kept)
