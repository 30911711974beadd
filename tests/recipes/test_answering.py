"""Questions about documents themselves take the path of every other question: searched, judged, answered, checked."""

from __future__ import annotations

from typing import Any

import pytest

import thresher
from thresher.collection import Collection

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
    folder = tmp_path_factory.mktemp("library")
    (folder / "files").mkdir()
    (folder / "files" / "song.html").write_text(SONG, encoding="utf-8")
    (folder / "files" / "survey.md").write_text(SURVEY, encoding="utf-8")
    with thresher.open(folder / "home") as collection:
        collection.add(folder / "files")
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
