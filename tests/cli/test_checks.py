"""`thresher check`, `ask --mode` and `Collection.check`: a text held against the documents."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.types import ClaimState, Evidence
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
TRUE, FALSE = "The Kõpu lighthouse was built in 1531.", "The Kõpu lighthouse was built in 1999."


def test_each_claim_has_its_state_and_the_span_that_shows_it(run: Run, indexed: Path) -> None:
    told = run("check", f"{TRUE} {FALSE}", "--home", indexed, "--json").json
    first, second = told["claims"]
    assert (first["text"], first["state"], second["state"]) == (TRUE, "quoted", "contradicted")
    assert told["text"][second["start"] : second["end"]] == FALSE
    assert first["citations"][0]["quote"] == TRUE
    assert "1999" in second["reason"]
    assert (set(told), told["support"]) == ({"text", "support", "claims"}, 0.5)
    lines = run("check", f"{TRUE} {FALSE}", "--home", indexed).out.splitlines()
    assert (lines[0].startswith("quoted"), lines[-1]) == (True, "1 of 2 claims are supported, 1 contradicted")


def test_a_file_and_stdin_are_checked_like_a_text(
    run: Run, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(f"# Lighthouses\n\n- {TRUE}\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(TRUE))
    (of_file,), (of_stdin,) = (
        run("check", given, "--home", indexed, "--json").json["claims"] for given in (draft, "-")
    )
    assert of_file["text"] == of_stdin["text"] == TRUE


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (TRUE, (), 0),
        (TRUE, ("--strict",), 0),
        ("Gouda ripens for a year.", (), 0),
        ("Gouda ripens for a year.", ("--strict",), 1),
        (FALSE, (), 1),
    ],
)
def test_a_contradicted_claim_fails_and_with_strict_an_unsupported_one(
    run: Run, indexed: Path, text: str, options: tuple[str, ...], code: int
) -> None:
    assert run("check", text, "--home", indexed, *options).code == code


def test_given_passages_are_all_that_counts(collection: Collection) -> None:
    found = collection.check(TRUE, evidence=["Gouda ripens for a year.", {"text": "It is red.", "title": "Cheese"}])
    assert [claim.state for claim in found.claims] == [ClaimState.UNVERIFIED]
    assert found.support == 0.0


def test_what_a_search_found_is_evidence_and_of_another_language_only_the_numbers_are_checked(
    collection: Collection,
) -> None:
    hits = collection.search("When was the Kõpu lighthouse built?", recipe="rag").hits
    spans = [Evidence(one, one.chunk.start, one.chunk.end, one.chunk.text) for one in hits]
    told = ("Der Leuchtturm wurde im Jahr 1531 auf der Insel gebaut.", "Der Leuchtturm wurde im Jahr 1999 gebaut.")
    for evidence in (hits, spans):
        states = [collection.check(text, evidence=evidence).claims[0].state for text in (TRUE, *told)]
        assert states == [ClaimState.QUOTED, ClaimState.SUPPORTED, ClaimState.UNVERIFIED]


def test_a_supported_claim_that_the_documents_also_contradict_names_that_place(collection: Collection) -> None:
    passages = ["Returns are accepted within 30 days. The yard opens at 8. Returns are accepted within 14 days."]
    (claim,) = collection.check("Returns are accepted within 30 days.", evidence=passages).claims
    assert claim.state is ClaimState.QUOTED
    assert claim.reason == "[2] says otherwise: the evidence says 14 where the sentence says 30"
    assert [one.quote for one in claim.citations] == [claim.text, "Returns are accepted within 14 days."]


@pytest.mark.parametrize(("text", "evidence"), [(" ", None), (TRUE, [3])])
def test_what_cannot_be_checked_is_told(collection: Collection, text: str, evidence: list[str] | None) -> None:
    with pytest.raises(UsageError):
        collection.check(text, evidence=evidence)


def test_the_mode_of_a_question_wins_over_the_check(run: Run, indexed: Path, serve: Serve) -> None:
    server = serve(f"{TRUE} It was painted by giants.")
    model = ("--set", f"llm.base_url={server.base_url}", "--set", "llm.model=scripted")
    asked = ("ask", "When was the Kõpu lighthouse built?", "--home", indexed, "--recipe", "rag", *model)
    shown = {mode: run(*asked, "--mode", mode).out for mode in ("strict", "balanced", "open")}
    assert "giants" not in shown["strict"].splitlines()[0]
    assert "giants. (unverified)" in shown["balanced"].splitlines()[0]
    assert "Sentences: 1 quoted, 1 unverified" in shown["open"]
