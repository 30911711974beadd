"""A document as a whole with a chat model: written part by part, supported sentences alone, and how much was read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import thresher
from tests.answering.answering import verdicts
from tests.recipes.scripting import using
from thresher.answering.proposers.summary import MOST_PARTS, grouped
from thresher.collection import Collection
from thresher_testing.llm_server import Reply, ScriptedServer

QUESTION = "Summarise the boiler manual"
FILLED = "The valve of the boiler is checked by hand before each round of the watch. " * 25
SAFETY = f"Close the gas valve before any work. {FILLED}"
SERVICE = f"The boiler is serviced every year in May. {FILLED}"


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "boiler_manual.md").write_text(f"# Boiler manual\n\n## Safety\n\n{SAFETY}\n\n## Service\n\n{SERVICE}\n")
    opened = thresher.open(str(folder / "home"))
    opened.add(str(folder / "boiler_manual.md"))
    return opened


READ_AGAIN = verdicts(("supported", "Close the gas valve before any work."))


def written(prompt: object) -> str:
    """A true and an invented sentence of each part; read again, the true one is supported."""
    text = str(prompt)
    if "<sentence number=" in text:
        return READ_AGAIN
    if "gas valve before" in text:
        return "The gas valve is closed before any work [1]. The boiler costs 4,000 euros [1]."
    return "The boiler is serviced every year in May [1]."


def test_each_part_is_written_and_only_what_it_supports_is_shown(
    collection: Collection, serve: Callable[..., ScriptedServer]
) -> None:
    server, told = serve(written), list[str]()
    answer = collection.ask(QUESTION, settings=using(server), on_sentence=told.append)
    first, *lines = answer.text.split("\n")
    assert first == "A summary of “Boiler manual” (boiler_manual.md), of all 3 sections:"
    assert lines == [
        "- Boiler manual to Safety: The gas valve is closed before any work. [1]",
        "- Service: The boiler is serviced every year in May. [2]",
        "Left out: 1 sentence that the document does not support.",
    ]
    assert "".join(told) == answer.text
    assert [one.text for one in answer.removed] == ["The boiler costs 4,000 euros."]
    assert (answer.state, answer.answered_by, answer.usage.llm_calls) == ("answered", "model", 3)
    for citation in answer.citations:
        assert collection.document(citation.document_id).text[citation.start : citation.end] == citation.quote
    assert answer.citations[1].locator.endswith("under “Service”")
    assert [(one.text, one.state, one.citations) for one in answer.sentences] == [
        ("The gas valve is closed before any work.", "supported", (1,)),
        ("The boiler is serviced every year in May.", "quoted", (2,)),
    ]


def test_a_summary_is_replayed_when_the_model_is_gone(collection: Collection) -> None:
    with ScriptedServer(written) as server:
        answer = collection.ask(QUESTION, settings=using(server))
    again, differences = collection.replay(answer.trace)
    assert (again.text, again.usage, differences) == (answer.text, answer.usage, [])


def test_a_model_that_fails_on_the_way_leaves_what_it_wrote_and_says_how_much_it_read(
    collection: Collection, serve: Callable[..., ScriptedServer]
) -> None:
    settings = using(serve(written({"gas valve before": ""}), READ_AGAIN, Reply(status=400)))
    answer = collection.ask(QUESTION, settings=settings)
    assert "The gas valve is closed before any work. [1]" in answer.text
    assert answer.text.split("\n")[-2:] == [
        "Only 2 of 3 sections were read.",
        "Left out: 1 sentence that the document does not support.",
    ]
    assert any("400" in lack for lack in answer.degraded)


def test_a_model_that_writes_nothing_of_the_document_leaves_its_outline(
    collection: Collection, serve: Callable[..., ScriptedServer]
) -> None:
    answer = collection.ask(QUESTION, settings=using(serve("The harbour opens at nine [1].")))
    assert answer.text.startswith("An outline of “Boiler manual”")
    assert len(answer.removed) == 2


def test_a_long_document_is_read_in_few_parts_of_whole_sections(tmp_path: Path) -> None:
    sections = "\n\n".join(f"## Part {at}\n\nThe pier of part {at} has {at} lamps. {FILLED}" for at in range(60))
    (tmp_path / "piers.md").write_text(f"# Piers\n\n{sections}\n")
    with thresher.open(str(tmp_path / "home")) as opened:
        opened.add(str(tmp_path / "piers.md"))
        document = opened.document(opened.documents()[0].id)
    parts = list(grouped(document))
    assert sum(len(part.names) for part in parts) == 61
    assert len(parts) > MOST_PARTS
    assert all(part.end - part.start <= 6_000 for part in parts)


def test_of_a_long_text_without_sections_it_is_said_how_much_was_read(
    tmp_path: Path, serve: Callable[..., ScriptedServer]
) -> None:
    (tmp_path / "watch.md").write_text(f"# Watch\n\n{FILLED * 60}\n")
    server = serve("The valve of the boiler is checked by hand before each round of the watch [1].")
    with thresher.open(str(tmp_path / "home")) as opened:
        opened.add(str(tmp_path / "watch.md"))
        answer = opened.ask("Summarise watch.md", settings=using(server))
    assert answer.text.startswith("A summary of “Watch” (watch.md), of 1 of 1 section, 64% of the text:")
    assert answer.usage.llm_calls == MOST_PARTS
