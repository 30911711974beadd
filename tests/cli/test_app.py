"""Every command, called as the shell calls it; where the process itself matters, in a process of its own."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Run
from thresher.cli import output
from thresher.cli.questions import say_answer
from thresher.collection import Collection
from thresher.indexing.inputs import IndexProgress
from thresher.pipeline import SLOTS
from thresher_testing.llm_server import Reply, ScriptedServer

QUESTION = "When was the Kõpu lighthouse built?"
MARKED = "Here: “**The Kõpu lighthouse was built in 1531.**"
PASSAGE = f"{MARKED} It stands on the island of Hiiumaa. Its light reaches 26 nautical miles.” [1]"
HYBRID = ("--recipe", "hybrid")  # its results are all that was found: it does not judge
CONTRACT = {
    "index": "added updated unchanged duplicates removed renamed reread failed remarks skipped chunks seconds",
    "document": "id source also title kind pages characters added date metadata",
    "search": "question recipe hits degraded",
    "hit": "rank score scale source title page start end text",
    "ask": "question recipe text state abstained reason verdict confidence certainty answered_by standalone citations "
    "alternatives conflicts steps usage degraded trace sentences",
    "citation": "marker source title page locator start end quote score scale origin fetched mark",
    "step": "name seconds considered kept detail",
    "usage": "llm_calls prompt_tokens completion_tokens web_requests hosts",
    "chunk": "id source page start end origin text scores kept dropped_by reason stood_for",
    "recipe": "name preset_of slots follows needs_llm",
}
"""The keys of the JSON forms (docs/reference)."""


def has_keys(told: dict[str, Any], form: str) -> bool:
    """Whether an object has the keys of its form, and no others."""
    return set(told) == set(CONTRACT[form].split())


def process(*arguments: object, **more: Any) -> subprocess.Popen[str]:
    """The installed command in a process of its own."""
    command = [str(Path(sys.executable).with_name("thresher")), *map(str, arguments)]
    return subprocess.Popen(command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more})


# --- documents --------------------------------------------------------------------------------------------------------


def test_index_tells_what_it_did_and_what_it_could_not_read(run: Run, notes: Path, tmp_path: Path) -> None:
    home = ("--home", tmp_path / "home")
    first = run("index", notes, *home, "--json")
    assert (first.code, first.json["added"], first.json["failed"]) == (0, 3, [])
    assert has_keys(first.json, "index")
    assert run("index", notes, *home).out.startswith("3 unchanged; 0 new chunks in ")
    ran = run("index", notes / "railway.txt", tmp_path / "missing.txt", *home, "--json")
    (failure,) = ran.json["failed"]
    assert (ran.code, set(failure)) == (3, {"source", "error", "next"})
    assert (ran.err.count("\n"), ran.err.startswith("not read: ")) == (1, True)
    assert run("index", tmp_path / "missing.txt", *home).code == 1


def test_files_that_are_not_read_for_one_reason_are_one_line(run: Run, tmp_path: Path) -> None:
    for name in ("a.ps", "b.ps", "c.ps"):
        (tmp_path / name).write_bytes(b"%!PS-Adobe-3.0\n(Oats.) show")
    (tmp_path / "empty.pdf").write_bytes(b"")
    ran = run("index", tmp_path, "--home", tmp_path / "home")
    more = "; and 2 more like it (all of them with --json)"
    lines = [line for line in ran.err.splitlines() if line.startswith("not read: ")]
    assert len(lines) == 2
    assert any("is a PostScript" in line and line.endswith(more) for line in lines)
    assert "4 not read" in ran.out


def test_pictures_of_a_folder_are_counted_and_are_no_errors(run: Run, tmp_path: Path) -> None:
    folder, home = tmp_path / "site", ("--home", tmp_path / "home")
    folder.mkdir()
    (folder / "a.txt").write_text("Bring a lamp.")
    for name in ("a.gif", "b.gif", "c.txt"):
        (folder / name).write_bytes(b"GIF89a" + bytes(20))
    (folder / "song.ogg").write_bytes(b"OggS" + bytes(40))
    ran = run("index", folder, *home)
    assert ran.out.startswith("1 added, 1 not read; ")  # what says that it is text and is none
    assert "passed by, since they are no documents: 2 pictures, 1 sound or video file" in ran.out
    (folder / "c.txt").unlink()
    again = run("index", folder, *home, "--json")
    assert (again.code, again.json["failed"]) == (0, [])
    assert again.json["skipped"] == {"a picture": 2, "a sound or video file": 1}
    assert run("index", folder / "a.gif", *home).code == 1


def test_documents_status_and_doctor_have_their_keys(run: Run, indexed: Path) -> None:
    home = ("--home", indexed)
    documents = run("documents", *home, "--json").json
    assert [has_keys(document, "document") for document in documents] == [True] * 3
    assert set(run("documents", "--fields", *home, "--json").json) >= {"kind"}
    assert len(run("documents", "--where", "kind = 'markdown'", *home, "--json").json) == 1
    assert "no document matches the filter" in run("documents", "--where", "kind = 'pdf'", *home).err
    status = run("status", *home, "--json").json
    assert (status["collection"], status["documents"]) == ("default", 3)
    assert status["storage"].keys() == {"files", "bytes", "versions"}
    assert status["extractions"] == {"current": 3, "older": 0, "unknown": 0}
    assert {"chunk"} <= {table["level"] for table in status["tables"]} <= {"chunk", "subchunk"}
    ran = run("doctor", *home, "--json")
    assert (ran.code, ran.json) == (0, {"sound": True, "findings": []})
    assert run("doctor", *home, "--purged", "Hiiumaa").code == 1


def test_documents_fields_and_the_collections_are_told_in_lines(run: Run, home: Path) -> None:
    at = ("--home", home)
    assert run("documents", "--fields", *at).out.splitlines()[:2] == [
        *("field\tvalues\tdocuments of each", "kind\t2\ttext (2), markdown (1)"),
    ]
    (heading, listed) = run("collections", *at).out.splitlines()
    assert (heading, listed.split("\t")[:2]) == ("collection\tdocuments\tsize", ["default", "3"])
    assert run("doctor", *at).out == "the collection is sound\n"
    source = run("documents", *at, "--json").json[0]["source"]
    assert run("holding", source, *at).out == f"no stored answer rests on {source}\n"
    run("ask", QUESTION, *at)
    assert QUESTION in run("holding", "lighthouse.md", *at).out


def test_the_index_of_a_recipe_is_listed_dropped_and_made_again(run: Run, home: Path) -> None:
    at = ("--home", home)
    assert "\nhybrid\t" in run("status", *at).out
    assert run("drop", "--recipe", "hybrid", *at).code == 2  # asks before
    assert run("drop", "--recipe", "hybrid", "--yes", *at).out.startswith("the index of hybrid is gone")
    assert "hybrid" not in run("status", *at).out
    assert "is not there" in run("drop", "--recipe", "hybrid", "--yes", *at).err
    assert run("index", "--recipe", "hybrid", *at).out.endswith(" new chunks\n")
    assert len(run("documents", *at, "--json").json) == 3
    run("index", "--recipe", "corrective", *at)
    assert "is used by corrective, the usual recipe" in run("drop", "--recipe", "corrective", "--yes", *at).err


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Stdin, as somebody types it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_index_reads_stdin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "The mill on the hill grinds rye since 1720.")
    assert run("index", "-", "--home", tmp_path, "--json").json["added"] == 1
    asked = run("ask", "Since when does the mill grind rye?", "--home", tmp_path, "--json").json
    assert "1720" in asked["text"]


def test_index_takes_globs_metadata_and_prunes(run: Run, tmp_path: Path) -> None:
    folder, home = tmp_path / "in", tmp_path / "home"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.log"):
        (folder / name).write_text(f"This is the text of {name}.")
    ran = run(
        "index", folder, "--include", "*.txt", "--exclude", "b.*", "--metadata", "by=me", "--home", home, "--json"
    )
    assert ran.json["added"] == 1
    (document,) = run("documents", "--home", home, "--json").json
    assert document["metadata"]["by"] == "me"
    (folder / "a.txt").unlink()
    assert run("index", folder, "--include", "*.txt", "--home", home).out.startswith("1 added, 1 removed; ")


def test_delete_refuses_an_ambiguous_ending_and_names_one(run: Run, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text(f"This lies in the folder {folder}.")
    run("index", tmp_path / "a", tmp_path / "b", "--home", tmp_path / "home")
    ran = run("delete", "same.txt", "--home", tmp_path / "home")
    assert ran.code == 2
    assert "means 2 sources" in ran.error
    assert "a/same.txt" in ran.error
    assert run("delete", "b/same.txt", "--home", tmp_path / "home").code == 0


# --- questions --------------------------------------------------------------------------------------------------------


def test_search_ask_and_explain_have_their_keys(run: Run, indexed: Path) -> None:
    found = run("search", "Kõpu lighthouse", *HYBRID, "--limit", 2, "--home", indexed, "--json").json
    assert has_keys(found, "search")
    assert [(has_keys(hit, "hit"), hit["rank"]) for hit in found["hits"]] == [(True, 1), (True, 2)]
    *steps, answer = map(
        json.loads, run("ask", QUESTION, "--stream", "--json", "--home", indexed).out.splitlines()
    )  # a line a step
    assert [step["name"] for step in steps if has_keys(step, "step")] == list(SLOTS)
    assert has_keys(answer, "ask")
    assert has_keys(answer["usage"], "usage")
    assert [has_keys(citation, "citation") for citation in answer["citations"]] == [True]
    for name in ("last", answer["trace"]):
        told = run("explain", name, "--home", indexed, "--json").json
        assert [has_keys(chunk, "chunk") for chunk in told.pop("chunks")] == [True] * 3
        assert told == answer
    shown = run("explain", "--home", indexed).out
    assert f"question  {QUESTION}" in shown
    assert "dropped by judge: 1; `--all` lists them" in shown
    everything = run("explain", "--home", indexed, "--all", "--scores").out
    assert everything.count("\ndropped ") == 1
    assert "dense 0." in everything


def test_ask_answers_in_words_for_a_person(run: Run, indexed: Path) -> None:
    ran = run("ask", QUESTION, "--home", indexed)
    shown, second, third = ran.out.splitlines()
    assert shown.startswith(MARKED)
    assert second.startswith("  [1] ")
    assert second.endswith("lighthouse.md, line 3, under “Lighthouses”, characters 15-126")
    assert third.startswith("Answer: probably right, as ")
    assert "note:" not in ran.err
    assert "no chat model is configured" in run("status", "--home", indexed).out


def test_a_doubt_has_its_reason_on_a_line_below_the_passage(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "The passage does not name Seal Rock."
    say_answer(replace(collection.ask(QUESTION), state="doubtful", certainty=0.95, reason=reason))
    *_, passage, why, place, worth = capsys.readouterr().out.splitlines()
    assert "1531" in passage
    assert why == f"In doubt: {reason}"
    assert place.startswith("  [1] ")
    assert worth == "Answer: in doubt, 19 of 20 such answers are right"


def test_a_cited_passage_is_shown_in_the_text_around_it(
    run: Run, indexed: Path, serve: Callable[..., ScriptedServer]
) -> None:
    server, home = serve("The Kõpu lighthouse was built in 1531 [1]."), ("--home", indexed)
    run("ask", QUESTION, *home, "--recipe", "rag", "--set", "llm.model=m", "--set", f"llm.base_url={server.base_url}")
    quote, after = "The Kõpu lighthouse was built in 1531.", "It stands on the island of Hiiumaa. Its light reaches"
    shown = run("show", "1", *home).out
    assert shown.startswith(f"Lighthouses\n\n“{quote}” [1]\n\n{after} 26 nautical miles.\n  [1] ")
    told = run("show", "1", *home, "--json").json
    assert (told["before"], told["quote"], told["after"]) == ("# Lighthouses", quote, f"{after} 26 nautical miles.")
    assert "it has 1" in run("show", "2", *home).error


def test_a_cited_table_is_shown_as_one_between_quotation_marks(run: Run, tmp_path: Path) -> None:
    text = "The doors of the workshop are sold by the piece.\n\n| Model | Price |\n|---|---|\n| Oak | 1450 |"
    (tmp_path / "doors.md").write_text(f"# Workshop\n\n{text}\n")
    home = ("--home", tmp_path / "home")
    run("index", tmp_path / "doors.md", *home)
    run("ask", "How are the doors of the workshop sold?", *home)
    rows = "Model  Price\n─────  ─────\nOak    1450"
    marked = text.partition("\n")[0]
    assert f"“\n**{marked}**\n\n{rows}\n” [1]\n  [1] " in run("show", "1", *home).out


def test_several_recipes_answer_one_question_each_under_its_name(run: Run, indexed: Path) -> None:
    both = ("--recipe", "rag", "--recipe", "corrective", "--recipe", "rag")
    ran = run("ask", QUESTION, *both, "--home", indexed)
    lines = ran.out.splitlines()
    named = [at for at, line in enumerate(lines) if line.startswith("--- ")]
    assert [lines[at] for at in named] == ["--- rag", "--- corrective"]
    assert [lines[at + 1] for at in named] == [PASSAGE, PASSAGE]
    answers = [json.loads(line) for line in run("ask", QUESTION, *both, "--home", indexed, "--json").out.splitlines()]
    assert [one["recipe"] for one in answers] == ["rag", "corrective"]
    assert run("explain", "--home", indexed, "--json").json["recipe"] == "corrective"
    refused = run("ask", QUESTION, "--recipe", "rag", "--recipe", "rga", "--home", indexed)
    assert (refused.code, refused.out) == (2, "")


def test_a_stream_tells_a_models_sentences_and_shows_a_refusal_once(
    run: Run, indexed: Path, serve: Callable[..., ScriptedServer]
) -> None:
    server = serve("The Kõpu lighthouse was built in 1531 [1].", "NOT IN THE EVIDENCE")
    model = ("--set", "llm.model=m", "--set", f"llm.base_url={server.base_url}")
    given = ("--stream", "--home", indexed, "--recipe", "rag", *model)
    assert "sentence  The Kõpu lighthouse was built in 1531. [1]" in run("ask", QUESTION, *given).out.splitlines()
    refused = run("ask", "Who won the football world cup in 1998?", *given).out
    assert refused.count("\nThe model found no answer in the evidence.") == 1


@pytest.mark.slow
def test_a_stream_reaches_a_program_while_the_model_still_writes(
    indexed: Path, serve: Callable[..., ScriptedServer]
) -> None:
    read = threading.Event()

    def write(request: Any) -> str:
        return "The Kõpu lighthouse was built in 1531 [1]." if read.wait(20) else "Nothing was read meanwhile."

    server = serve(write)
    model = ("--set", "llm.model=m", "--set", f"llm.base_url={server.base_url}", "--recipe", "rag")
    with process("ask", QUESTION, "--stream", "--home", indexed, *model) as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline().startswith("rewrite")
        read.set()
        assert "1531" in asking.stdout.read()


@pytest.mark.slow
def test_a_person_sees_that_a_model_is_awaited(indexed: Path, serve: Callable[..., ScriptedServer]) -> None:
    seen = threading.Event()

    def write(request: Any) -> str:
        return "The Kõpu lighthouse was built in 1531 [1]." if seen.wait(20) else "Nobody was told."

    server = serve(write)
    model = ("--set", "llm.model=slow-one", "--set", f"llm.base_url={server.base_url}", "--recipe", "rag")
    ours, theirs = pty.openpty()
    with process("ask", QUESTION, "--home", indexed, *model, stderr=theirs) as asking:
        told = ""
        while "waiting for slow-one" not in told:
            told += os.read(ours, 1_000).decode()
        seen.set()
        assert asking.stdout is not None
        assert "1531" in asking.stdout.read()
    os.close(theirs)
    os.close(ours)


def test_ask_takes_a_server_a_budget_and_strict(run: Run, indexed: Path, serve: Callable[..., ScriptedServer]) -> None:
    server = serve("The Kõpu lighthouse was built in 1531 [1].")
    given = ("ask", QUESTION, "--home", indexed, "--recipe", "rag", "--set", "llm.model=m", "--json", "--set")
    answer = run(*given, f"llm.base_url={server.base_url}", "--strict").json
    assert answer["usage"]["hosts"] == [server.host]
    spent = run(*given, f"llm.base_url={server.base_url}", "--budget-calls", 0).json
    assert (spent["usage"]["llm_calls"], len(server.requests)) == (0, 1)
    refused = run(*given, f"llm.base_url={server.base_url}", "--budget-calls", 0, "--strict")
    assert refused.code == 1
    assert "ask without --strict" in refused.error


# --- recipes ----------------------------------------------------------------------------------------------------------


def test_recipes_are_listed_shown_and_compared_without_secrets(run: Run) -> None:
    told = run("recipes", "--json").json
    assert all(has_keys(recipe, "recipe") for recipe in told)
    assert [recipe["name"] for recipe in told] == thresher.recipes.names()
    assert run("recipes").out.splitlines()[0].split("\t")[0] == "recipe"
    ran = run("show", "hybrid", "--set", "llm.api_key=s3cret", "--set", "protect.n=1")
    assert ("s3cret" in ran.out, "protect.n\t1\t" in ran.out) == (False, True)
    rows = run("show", "hybrid", "--diff", "hybrid-literal", "--json").json
    assert {"part": "settings", "key": "fuse.method", "hybrid": "auto", "hybrid-literal": "rrf"} in rows
    assert run("show", "rag", "--diff", "rag", "--json").json == []
    assert "rerank\tbundled\t-" in run("show", "hybrid", "--diff", "rag").out.splitlines()
    changed = ("show", "rag", "--set", "chunk.size=500", "--diff", "rag")
    assert {"part": "settings", "key": "chunk.size", "rag[chunk.size=500]": 500, "rag": 900} in run(
        *changed, "--json"
    ).json
    assert "chunk.size\t500\t900" in run(*changed).out.splitlines()


def test_the_password_of_an_address_is_nowhere_shown_and_nowhere_stored(
    run: Run, home: Path, serve: Callable[..., ScriptedServer]
) -> None:
    model = serve(Reply("1845 [1]")).base_url.replace("//", "//me:p@ss@")
    nowhere = "http://me:p@ss@127.0.0.1:9"
    given = ("--set", f"llm.base_url={model}", "--set", "llm.model=m")
    web = ("--outside", "web", "--set", "web.provider=searxng", "--set", f"web.base_url={nowhere}")
    ran = [
        run("index", f"{nowhere}/page.html", "--home", home),
        run("config", "--home", home, *given),
        run("show", "rag", *given),
        run("show", "rag", "--set", "llm.base_url=ftp://me:p@ss@127.0.0.1", "--set", "llm.model=m"),
        run("ask", QUESTION, "--home", home, *given, *web, "--json"),
        run("ask", QUESTION, "--home", home, "--set", "encoder=endpoint:m", "--set", f"embeddings.base_url={nowhere}"),
    ]
    assert [one.code for one in ran] == [1, 0, 0, 2, 0, 1]
    assert not [one for one in ran if "p@ss" in one.out + one.err]
    assert not [file for file in home.rglob("*") if file.is_file() and b"p@ss" in file.read_bytes()]


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["ask", ""], 2, "the question is empty"),
        (["ask", "x", "--recipe", "hybird"], 2, "did you mean 'hybrid'?"),
        (["ask", "x", "--set", "chunk.sise=3"], 2, "did you mean 'chunk.size'?"),
        (["ask", "x", "--set", "chunk.size=3"], 2, "setting chunk.size"),
        (["ask", "x", "--set", "rerank"], 2, "is not key=value"),
        (["ask", "x", "--outside", "web"], 2, "no web search is configured"),
        (["ask", "x", "--outside", "web", "--set", "web.provider=tavily"], 2, "web.api_key"),
        (["ask", "x", "--outside", "collection:nowhere"], 2, "holds no documents yet"),
        (["ask", "x", "--outside", "somewhere"], 2, "use none, web or collection:NAME"),
        (["ask", "x", "--set", "judge=none", "--recipe", "crag"], 2, "unknown judge; there are: auto"),
        (["calibrate", "--number", "0"], 2, "--number"),
        (["calibrate", "--questions", "nothing.jsonl"], 2, "no such file"),
        (["ask", "x", "--where", "kind ="], 2, "--where"),
        (["ask", "x", "--where", "kin = 'pdf'"], 2, "did you mean 'kind'"),
        (["ask", "x", "--collection", "../up"], 2, "is not a collection name"),
        (["delete", "Doc99"], 2, "is the label of no document; there are Doc1 to Doc3, see thresher documents"),
        (["delete", "heese.txt"], 2, "did you mean"),
        (["delete", "/cheese.txt"], 2, "did you mean"),
        (["explain", "0000deadbeef"], 2, "use the id that `ask` printed, or `last`"),
        (["explain", "--collection", "other"], 2, "no question was asked"),
        (["ask"], 2, "missing argument"),
        (["ask", "x", "--bogus"], 2, "no such option"),
        (["search", "x", "--limit", "0"], 2, "--limit"),
        (["bogus"], 2, "no such command 'bogus'; see thresher --help, or ask it: thresher ask QUESTION"),
        (["show", "nothing"], 2, "unknown recipe"),
        (["show", "rag", "--set", "protect.n=1"], 2, "is no setting of rag; it is one of hybrid, hybrid-literal"),
        (["eval", "score", "nothing"], 2, "no run in it"),
        (["index", "x", "--metadata", "by"], 2, "--metadata 'by'"),
    ],
    ids=str,
)
def test_an_error_is_one_line_and_a_code(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, told: str
) -> None:
    monkeypatch.setenv("THRESHER_HOME", str(indexed))
    ran = run(*arguments)
    *progress, error = ran.err.splitlines()  # the first question makes an index
    assert (ran.code, ran.out, error.startswith("thresher: ")) == (code, "", True)
    assert told in error
    assert all(line.startswith("making the chunks") for line in progress)


@pytest.mark.parametrize(
    "command", [["ask", "x"], ["search", "x"], ["status"], ["documents"], ["doctor"], ["delete", "x"], ["calibrate"]]
)
def test_a_home_that_is_not_there_says_what_to_do_and_is_not_made(run: Run, tmp_path: Path, command: list[str]) -> None:
    ran = run(*command, "--home", tmp_path / "none", "--json")
    assert ran.code == 1
    error = json.loads(ran.error)["error"]
    assert (error["what"], error["next"]) == ("holds no documents yet", "run thresher index PATH")
    assert not (tmp_path / "none").exists()


def test_a_question_needs_no_command_and_no_quotes(run: Run, indexed: Path) -> None:
    for words in ([QUESTION], QUESTION.split(), ["--home", indexed, QUESTION]):
        at = () if "--home" in words else ("--home", indexed)
        assert run(*words, *at).out.startswith(MARKED)
    assert run("expain", "last").error == (
        "thresher: no such command 'expain'. Did you mean 'explain'?; see thresher --help"
    )


@pytest.mark.parametrize("words", ["--home=HOME --json status", "--collection default --home HOME status --json"])
def test_options_before_a_command_are_options_of_that_command(run: Run, indexed: Path, words: str) -> None:
    ran = run(*(word.replace("HOME", str(indexed)) for word in words.split()))
    assert (ran.code, ran.json["collection"], ran.json["documents"]) == (0, "default", 3)


def test_options_of_a_command_alone_or_of_one_below_it_may_stand_before_it(run: Run, home: Path) -> None:
    found = run("--limit", 2, "--home", home, "search", QUESTION, *HYBRID, "--json").json
    assert len(found["hits"]) == 2
    assert run("--home", home, "collections", "copy", "default", "second").code == 0
    assert [one["name"] for one in run("--home", home, "collections", "--json").json] == ["default", "second"]


def test_a_misspelt_command_behind_an_option_is_not_asked(run: Run, indexed: Path) -> None:
    told = run("--home", indexed, "statsu").error
    assert told == "thresher: no such command 'statsu'. Did you mean 'status'?; see thresher --help"
    assert run("--home", indexed, "--", "status").code == 0  # after -- it is a question
    assert run("--bogus", "status").error.startswith("thresher: no such option: --bogus")


def test_a_refusal_says_why_and_ends_with_four_where_that_is_asked_for(run: Run, indexed: Path) -> None:
    refused = run("ask", "Who won the football world cup in 1998?", "--home", indexed, "--exit-code")
    assert (refused.code, refused.out.splitlines()[0]) == (4, "No answer found in your documents.")
    assert run("ask", QUESTION, "--home", indexed, "--exit-code").code == 0


def test_the_collections_of_a_home_are_listed_copied_packed_and_dropped(
    run: Run, indexed: Path, tmp_path: Path
) -> None:
    home, file = tmp_path / "home", tmp_path / "packed.thresher"
    assert run("collections", "export", "default", file, "--home", indexed).code == 0
    assert run("collections", "import", file, "--home", home, "--name", "second").out == f"second is in {home}\n"
    assert run("collections", "copy", "second", "third", "--home", home).code == 0
    assert run("collections", "rename", "third", "fourth", "--home", home).code == 0
    listed = run("collections", "--home", home, "--json").json
    assert [(one["name"], one["documents"]) for one in listed] == [("fourth", 3), ("second", 3)]
    assert run("ask", QUESTION, "--home", home, "--collection", "fourth").out.startswith(MARKED)
    asked = run("collections", "drop", "fourth", "--home", home)
    assert (asked.code, asked.error) == (
        2,
        "thresher: drop fourth with 3 documents; this needs a confirmation: add --yes",
    )
    assert run("collections", "drop", "fourth", "--home", home, "--yes").out == "fourth is gone\n"
    gone = run("ask", "x", "--home", home, "--collection", "fourth")
    assert "there are: second" in gone.error


def test_documents_are_deleted_by_label_and_glob_and_more_than_one_is_asked(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    run("index", notes, "--home", home)
    several = run("delete", "*.txt", "*.md", "--home", home)
    assert several.code == 2
    assert several.error.endswith("this needs a confirmation: add --yes")
    assert run("delete", "Doc1", "--home", home).out.startswith("1 deleted: ")
    assert "matches no document" in run("delete", "*.pdf", "--home", home).error
    assert run("delete", "*", "--yes", "--home", home).code == 0
    assert run("documents", "--home", home, "--json").json == []


def test_config_tells_where_each_value_comes_from(
    run: Run, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "project" / "below"
    below.mkdir(parents=True)
    file = tmp_path / "project" / "thresher.toml"
    file.write_text(f'recipe = "rag"\nhome = "{indexed}"\n[answer]\nstyle = "short"\n', encoding="utf-8")
    monkeypatch.chdir(below)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert run("trust", file).code == 0
    monkeypatch.setenv("THRESHER_STRICT", "true")
    told = run("config", "--set", "chunk.size=700", "--json").json
    settings = told["settings"]
    assert told["files"] == [str(file)]
    assert settings["recipe"] == {"value": "rag", "origin": str(file)}
    assert settings["strict"] == {"value": True, "origin": "THRESHER_STRICT"}
    assert settings["chunk.size"] == {"value": 700, "origin": "--set"}
    assert settings["collection"]["origin"] == "default"
    assert "strict\tTrue\tTHRESHER_STRICT" in run("config", "--changed").out


def test_a_recipe_that_a_file_or_a_variable_misspells_is_told_with_its_place(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "thresher.toml"
    file.write_text('recipe = "hybrd"\n', encoding="utf-8")
    ran = run("ask", QUESTION)
    assert (ran.code, ran.err) == (2, f"thresher: {file}: hybrd: unknown recipe; did you mean 'hybrid'?\n")
    monkeypatch.setenv("THRESHER_RECIPE", "CRAG")
    assert run("ask", QUESTION).err == "thresher: THRESHER_RECIPE: CRAG: unknown recipe; did you mean 'crag'?\n"


def test_a_home_in_a_folder_above_is_pointed_at(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = home.rename(home.with_name(".thresher"))
    (above.parent / "below").mkdir()
    monkeypatch.chdir(above.parent / "below")
    assert f"or name the home that is above: --home {above}" in run("ask", "What rye?").err


def test_nothing_found_says_what_was_looked_for(run: Run, indexed: Path, notes: Path, tmp_path: Path) -> None:
    home = ("--home", tmp_path / "home")
    assert f"no file of those names is in {notes}" in run("index", notes, "--include", "*.xyz", *home).err
    assert f"no collection is in {tmp_path} yet" in run("collections", "--home", tmp_path).err
    for command in ("ask", "search"):
        ran = run(command, QUESTION, "--where", "kind = 'pdf'", "--home", indexed)
        assert "nothing matches the filter and the words; see what there is" in ran.err


def test_completion_is_told_for_each_shell_and_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_THRESHER_COMPLETE" in run("completion", shell).out
    for name, value in {"COMP_WORDS": "thresher show crag-", "COMP_CWORD": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("_THRESHER_COMPLETE", "complete_bash")
    assert run().out.split() == ["crag-code", "crag-paper"]


def test_chat_names_the_collection_in_the_command_that_explains(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, f"{QUESTION}\n")
    ran = run("chat", "--home", indexed)
    told = next(line for line in ran.err.splitlines() if "thresher explain" in line)
    explained = run(*told.partition("thresher ")[2].split())
    assert (explained.code, str(indexed) in told) == (0, True)


def test_chat_carries_the_subject_to_the_next_question(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, f"/why\n{QUESTION}\nAnd when was it rebuilt?\n\n/new\n/help\n/quit\nnot asked\n")
    nothing, first, second, told = run("chat", "--home", indexed, "--json").out.splitlines()
    assert nothing == "nothing was asked yet"
    assert json.loads(first)["text"] == PASSAGE
    assert json.loads(second)["question"] == "And when was it rebuilt?"
    assert told.startswith("Ask a question, or: /why")


@pytest.mark.slow
def test_watch_indexes_what_is_new_until_it_is_interrupted(notes: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "one.txt").write_text("The mill on the hill grinds rye since 1720.", encoding="utf-8")
    with process("watch", folder, "--every", "0.1", "--home", tmp_path / "home") as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("1 added")
        (folder / "two.txt").write_text("The ferry to the island leaves at noon.", encoding="utf-8")
        assert watching.stdout.readline().startswith("1 added")
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert err.endswith("no longer watching; what was indexed is kept\n")


# --- the process itself -----------------------------------------------------------------------------------------------


def test_a_pipe_gets_plain_lines_without_escape_codes(run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    ran = run("documents", "--home", indexed)
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    assert ran.out.count("\n") == 4


def _all_of(terminal: int) -> bytes:
    """What was written to a terminal whose other end is closed; it is handed out in parts."""
    seen = b""
    try:
        while part := os.read(terminal, 65_536):
            seen += part
    except OSError:  # all was read
        pass
    os.close(terminal)
    return seen


def test_a_terminal_gets_tables_that_are_drawn_and_what_answers_in_bold(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    answer = collection.ask(QUESTION)
    text = "## Piers\n\n| Pier | Depth |\n|---|---|\n| East | **4 m** |\n\n```\nls\n```\n\nIt is **deep**. [1]"
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal, redirect_stdout(terminal), redirect_stderr(terminal):
        say_answer(replace(answer, text=text))
        output.table("piers", ["pier", "depth"], [["West", 3]])
        with output.counting(2, "searches") as count:
            count(1)
        with output.indexing() as tell:
            tell(IndexProgress(10, 5, 0, "a.md", 0))
    seen = _all_of(ours).decode()
    assert "\x1b[1mPiers\x1b[0m" in seen
    assert "It is \x1b[1mdeep\x1b[0m. [1]" in seen
    lines = [" ".join(re.sub(r"\x1b\[[\d;?]*[A-Za-z]|[│┃━]", " ", line).split()) for line in seen.splitlines()]
    assert {"Pier Depth", "East 4 m", "pier depth", "West 3"} <= set(lines)
    assert any("searches" in line and "50%" in line for line in lines)
    assert any("indexing" in line for line in lines)


@pytest.mark.slow
def test_an_interrupt_is_one_line_and_no_traceback(indexed: Path, serve: Callable[..., ScriptedServer]) -> None:
    server = serve(Reply("late", seconds=60))
    settings = ["--set", f"llm.base_url={server.base_url}", "--set", "llm.model=m"]
    with process("ask", QUESTION, "--recipe", "rag", "--home", indexed, *settings) as asking:
        assert server.wait_for(1)
        asking.send_signal(signal.SIGINT)
        out, err = asking.communicate(timeout=60)
    assert (asking.returncode, out) == (130, "")
    assert err == "thresher: interrupted; what was committed is kept, run the command again to go on\n"


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error_to_talk_about(indexed: Path) -> None:
    with process("documents", "--home", indexed) as listing:
        assert listing.stdout is not None
        listing.stdout.close()
        assert listing.stderr is not None
        assert listing.stderr.read() == ""
        listing.wait(timeout=60)
