"""Questions about documents themselves take the path of every other question: searched, judged, answered, checked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.indexing.making import ENCODER, row
from tests.recipes.scripting import holding
from thresher.collection import Collection
from thresher.recipes.build import redundancy
from thresher.recipes.settings import RedundancySettings
from thresher.types import UNIT, Hit, Score
from thresher_testing.memory_store import MemoryChunkTable

SONG = (
    '<html><head><title>As Time Goes By</title><meta name="author" content="Jane Editor"></head>'
    "<body><h1>As Time Goes By</h1><p>As Time Goes By is a song that Herman Hupfeld wrote in 1931 for a revue on "
    "Broadway. It became famous by a film.</p></body></html>"
)
SURVEY = (
    "---\nauthor: Ada Kask\n---\n# Sea Light Survey\n\nThe survey lists fourteen lighthouses of the Baltic Sea.\n\n"
    "Most of them were built by fishermen.\n"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page about a song that somebody else edited, and a survey with its author."""
    with holding(tmp_path_factory.mktemp("library"), {"song.html": SONG, "survey.md": SURVEY}) as collection:
        yield collection


@pytest.mark.parametrize("question", ["Who wrote the song As Time Goes By?", "Who wrote As Time Goes By?"])
def test_who_edited_a_page_did_not_write_the_song_that_it_is_about(library: Collection, question: str) -> None:
    answer = library.ask(question)
    assert "Jane Editor" not in f"{answer.text} {answer.reason}"
    assert "Herman Hupfeld" in answer.text


def test_several_questions_in_one_are_each_answered(library: Collection) -> None:
    answer = library.ask("Who wrote the song As Time Goes By and how many lighthouses does the survey list?")
    assert "Herman Hupfeld" in answer.text
    assert "fourteen" in answer.text
    assert len(answer.citations) == 2


# --- identifiers: the entry that has exactly it answers, and none where none has --------------------------------------

CODES = """# Pump codes

## E-0401 Suction blocked

Rinse the strainer under warm water.

## E-0410 Motor too hot

Let the motor cool for 40 minutes.

## E-0411 Bearing too warm

Grease the bearing with 12 grams of lithium grease.
"""


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with holding(tmp_path_factory.mktemp("codes"), {"codes.md": CODES}) as collection:
        yield collection


@pytest.mark.parametrize(("code", "said"), [("E-0410", "40 minutes"), ("E-0411", "12 grams"), ("e-0401", "strainer")])
def test_the_entry_with_the_code_is_the_answer(codes: Collection, code: str, said: str) -> None:
    answer = codes.ask(f"How do I fix {code}?")
    assert not answer.abstained
    assert said in answer.text
    assert sum(other in answer.text for other in ("40 minutes", "12 grams", "strainer")) == 1


@pytest.mark.parametrize("code", ["E-0412", "E-0140", "E-0400"])
def test_a_code_that_only_neighbours_are_like_is_refused(codes: Collection, code: str) -> None:
    assert codes.ask(f"How do I fix {code}?").abstained


# --- a part ----------------------------------------------------------------------------------------------------------


def test_a_chunk_whose_document_was_replaced_since_it_was_found_is_no_copy_of_another() -> None:
    table = MemoryChunkTable(ENCODER.dimension)
    texts = {"c1": "A mill", "c2": "A mill", "c3": "A tower"}
    rows = [row(id_, text, document_id=f"d{id_}") for id_, text in texts.items()]
    table.append(rows)
    hits = [Hit(one.chunk, Score(1.0, UNIT), rank) for rank, one in enumerate(rows, start=1)]
    apart = redundancy(RedundancySettings(threshold=0.99), table)
    assert [hit.chunk.id for hit in apart(hits).kept] == ["c1", "c3"]
    table.delete(["dc1"])
    assert [hit.chunk.id for hit in apart(hits).kept] == ["c1", "c2", "c3"]
