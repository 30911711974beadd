"""What a question would be answered from, with the verdict, and without an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher
from thresher.collection import Collection
from thresher.recipes.evidence import EvidenceResult
from thresher.types import PROBABILITY, Origin, Verdict

QUESTION = "When was the Kõpu lighthouse built?"
UNANSWERABLE = "Who composed the opera Aida?"


@pytest.fixture(scope="module")
def found(collection: Collection) -> EvidenceResult:
    return collection.evidence(QUESTION)


def test_the_verdict_is_that_of_the_answer(found: EvidenceResult, collection: Collection) -> None:
    answer = collection.ask(QUESTION)
    assert (found.verdict, found.confidence) == (answer.verdict, answer.confidence)
    assert found.verdict is Verdict.CORRECT
    assert found.evidence == answer.evidence
    assert "probability" in found.reason


def test_a_passage_says_where_it_stands_and_what_it_is_worth(found: EvidenceResult) -> None:
    first = found.passages[0]
    assert [span.text for span in first.spans] == [first.text] == [first.hit.chunk.text]
    assert first.locator == "lines 1 to 3, heading “Lighthouses”"
    assert first.probability is not None
    assert first.probability.scale == PROBABILITY
    assert first.probability.value == found.confidence
    assert [passage.hit.rank for passage in found.passages] == list(range(1, len(found.passages) + 1))


def test_a_passage_may_be_cut_to_the_sentences_that_are_evidence(collection: Collection) -> None:
    first = collection.evidence(QUESTION, refined=True).passages[0]
    text = collection.document(first.hit.chunk.document_id).text
    assert text[first.spans[0].start : first.spans[0].end] == "The Kõpu lighthouse was built in 1531."
    assert first.text == " … ".join(span.text for span in first.spans)
    assert len(first.text) < len(first.hit.chunk.text)


def test_refined_a_passage_without_evidence_gives_its_place_to_the_next(collection: Collection) -> None:
    asked = "When was the Semmering railway opened?"
    loose = {"min_probability": 0, "refine.min_score": 0.2}
    whole = collection.evidence(asked, settings=loose).passages
    cut = collection.evidence(asked, settings=loose, refined=True).passages
    assert len(whole) > len(cut) >= 1
    assert all(passage.spans for passage in cut)
    assert [passage.hit.rank for passage in cut] == list(range(1, len(cut) + 1))


def test_nothing_is_stored_and_nobody_is_asked(collection: Collection) -> None:
    before = collection.traces.asked()
    found = collection.evidence(QUESTION)
    after = collection.traces.asked()
    assert before == after
    assert found.usage.llm_calls == 0
    assert not any(lack.startswith("generate:") for lack in found.degraded)


def test_an_incorrect_verdict_leaves_nothing_and_shows_what_it_rejects(collection: Collection) -> None:
    found = collection.evidence(UNANSWERABLE, settings={"min_probability": 0})
    assert found.verdict is Verdict.INCORRECT
    assert found.passages == found.evidence == ()
    assert found.rejected
    assert collection.evidence(UNANSWERABLE, settings={"min_probability": 0}, refined=True).rejected == found.rejected


def test_what_is_outside_comes_in_where_the_verdict_lets_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "opera.txt").write_text("Giuseppe Verdi composed the opera Aida.\n", encoding="utf-8")
    with thresher.open(home, "operas") as operas:
        operas.add(tmp_path / "opera.txt")
    with thresher.open(home) as asked:
        (passage,) = asked.evidence(UNANSWERABLE, outside="collection:operas").passages
    assert passage.hit.origin is Origin.OUTSIDE
    assert "Verdi" in passage.spans[0].text
    assert passage.locator


def test_a_recipe_that_does_not_judge_has_no_verdict(collection: Collection) -> None:
    found = collection.evidence(QUESTION, recipe="hybrid")
    assert (found.verdict, found.confidence) == (None, None)
    assert found.passages[0].probability is None
    assert found.rejected == ()
