"""Addresses of places: made, taken apart, and given to hits and citations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Run
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.links import LinkedPlace, Links, address, place_of
from thresher.types import Hit, Origin

PUBLIC = "https://docs.example.org/thresher"
QUESTION = "When was the Kõpu lighthouse built?"
NAMES = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=("Cs",)), min_size=1).filter(
    lambda name: not name.startswith(".")
)
NUMBERS = st.integers(0, 10**9)


@given(NAMES, NAMES, NUMBERS, NUMBERS, st.none() | st.integers(1, 10**6))
def test_an_address_leads_back_to_what_it_was_made_of(
    collection: str, document: str, start: int, length: int, page: int | None
) -> None:
    url = address(PUBLIC, collection, document, start, start + length, page)
    assert url.isascii()
    assert not set(url) & set(" \"<>\n'#")
    assert place_of(url) == LinkedPlace(collection, document, start, start + length, page)
    parts = urlsplit(url)
    assert place_of(f"{parts.path}?{parts.query}") == place_of(url)


@pytest.mark.parametrize(
    "path", ["", "d/notes?start=1&end=2", "d/n/1f", "d/n/1f?start=1", "d/n/1f?start=-1&end=2", "d/n/1f?start=9&end=2"]
)
def test_what_is_no_address_is_told(path: str) -> None:
    with pytest.raises(UsageError, match="is no address of a span"):
        place_of(f"https://docs.example.org/{path}")


@pytest.mark.parametrize(
    ("public", "other", "origin", "source", "url"),
    [
        (PUBLIC, "", Origin.OUTSIDE, "https://example.org/page", "https://example.org/page"),
        ("", "", Origin.OUTSIDE, "https://example.org/page", "https://example.org/page"),
        (PUBLIC, "", Origin.INSIDE, "https://example.org/page", f"{PUBLIC}/d/notes/d1?start=0&end=10"),
        ("", "", Origin.INSIDE, "https://example.org/page", "https://example.org/page"),
        (PUBLIC, "", Origin.INSIDE, "/home/me/notes.txt", f"{PUBLIC}/d/notes/d1?start=0&end=10"),
        ("", "", Origin.INSIDE, "/home/me/notes.txt", ""),
        (PUBLIC, "archive", Origin.OUTSIDE, "/home/me/old.txt", f"{PUBLIC}/d/archive/d1?start=0&end=10"),
        (PUBLIC, "", Origin.OUTSIDE, "/home/me/old.txt", ""),
    ],
)
def test_a_page_of_the_web_is_its_own_address_and_a_document_has_one_below_the_public_one(
    public: str, other: str, origin: Origin, source: str, url: str, make_hit: Callable[..., Hit]
) -> None:
    hit = make_hit(origin=origin)
    hit = replace(hit, chunk=replace(hit.chunk, source=source))
    assert Links(public, "notes", other).hit(hit).url == url


def test_hits_and_citations_have_addresses_where_the_public_one_is_set(collection: Collection) -> None:
    settings = {"public_url": PUBLIC}
    hit = collection.search(QUESTION, recipe="rag", settings=settings).hits[0]
    place = LinkedPlace("default", hit.chunk.document_id, hit.chunk.start, hit.chunk.end, hit.chunk.page)
    assert place_of(hit.url) == place
    answer = collection.ask(QUESTION, recipe="rag", settings=settings)
    for cited in answer.to_dict()["citations"]:
        opened = place_of(cited["url"])
        assert collection.document(opened.document_id).text[opened.start : opened.end] == cited["quote"]
    assert answer.chunks[0].hit.url
    claim = collection.check("The Kõpu lighthouse was built in 1531.", recipe="rag", settings=settings).claims[0]
    assert all(cited.url.startswith(PUBLIC) for cited in claim.citations)
    assert claim.citations


def test_the_public_address_is_taken_from_the_environment(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_PUBLIC_URL", PUBLIC)
    ran = run("search", QUESTION, "--home", home, "--recipe", "rag", "--json")
    assert ran.json["hits"][0]["url"].startswith(f"{PUBLIC}/d/default/")
    assert f"    {PUBLIC}/d/default/" in run("search", QUESTION, "--home", home, "--recipe", "rag").out
    shown = run("config", "--home", home, "--json").json["settings"]["public_url"]
    assert shown == {"value": PUBLIC, "origin": "THRESHER_PUBLIC_URL"}


def test_a_public_address_that_is_none_is_told(home: Path, run: Run) -> None:
    ran = run("search", QUESTION, "--home", home, "--recipe", "rag", "--set", "public_url=docs")
    assert ran.code == 2
    assert "an address starts with http://" in ran.error
