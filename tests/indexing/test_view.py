"""A collection through a filter holds nothing of the other documents, whatever its tables are asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher
from thresher.collection import Collection
from thresher.errors import ThresherError, UsageError

WORDS = {"north": "heron", "south": "kestrel"}
BOTH = "The depot opens at seven for both teams."


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[thresher.Engine]:
    """Two teams have a document each, and one text in a file of each: one document with two places."""
    folder = tmp_path_factory.mktemp("view")
    with thresher.open(folder / "home") as collection:
        for team, word in WORDS.items():
            (folder / team).mkdir()
            (folder / team / f"{word}.txt").write_text(f"The gate log of the depot names a {word}. {word} " * 3)
            (folder / team / f"{word}-both.txt").write_text(BOTH)
            collection.add(folder / team, metadata={"team": team, f"of_{team}": word})
    with thresher.Engine(folder / "home") as opened:
        yield opened


@pytest.fixture
def whole(engine: thresher.Engine) -> Collection:
    return engine.collection()


@pytest.fixture(params=WORDS)
def seen(engine: thresher.Engine, request: pytest.FixtureRequest) -> tuple[str, Collection]:
    """A team, and what its filter lets through."""
    return request.param, engine.collection(within=f"team = '{request.param}'")


def hidden_of(whole: Collection, part: Collection) -> set[str]:
    found = {one.id for one in whole.documents()} - {one.id for one in part.documents()}
    assert len(found) == 1
    return found


def test_records_are_those_of_the_filter_by_id_too(whole: Collection, seen: tuple[str, Collection]) -> None:
    team, part = seen
    hidden = hidden_of(whole, part)
    table = part.opened.store.record_table("documents")
    assert table.get(hidden) == {}
    assert hidden.isdisjoint(row["id"] for row in table.rows(["id"]))
    (other,) = WORDS.keys() - {team}
    kept = table.get(one.id for one in part.documents())
    assert WORDS[other] not in str([*kept.values(), table.rows(["source", "title", "places", "metadata"])])
    for id_ in hidden:
        with pytest.raises(ThresherError):
            part.document(id_)


def test_chunks_and_their_numbers_are_those_of_the_filter(whole: Collection, seen: tuple[str, Collection]) -> None:
    _, part = seen
    hidden = hidden_of(whole, part)
    all_ids = {one.id for one in whole.documents()}
    for name in (one["name"] for one in part.tables()):
        table, full = part.opened.store.open(name), whole.opened.store.open(name)
        for asked in (None, all_ids):
            chunks = [chunk for batch in table.chunks(asked) for chunk, _ in batch]
            assert chunks
            assert hidden.isdisjoint(chunk.document_id for chunk in chunks)
        assert hidden.isdisjoint(table.document_ids())
        assert hidden.isdisjoint(table.chunk_counts(all_ids))
        assert table.count() == sum(table.document_ids().values()) < full.count()
        often, alone = full.document_frequencies("depot"), table.document_frequencies("depot")
        assert alone["depot"] < often["depot"]


def test_what_a_stored_answer_may_not_name_has_ids_sources_and_names(
    whole: Collection, seen: tuple[str, Collection]
) -> None:
    team, part = seen
    (other,) = WORDS.keys() - {team}
    forbidden = part.opened.store.hidden(lambda source: Path(source).name)  # type: ignore[attr-defined]
    assert hidden_of(whole, part) <= forbidden
    assert {f"{WORDS[other]}.txt", f"{WORDS[other]}-both.txt"} <= forbidden
    sources = {place for one in whole.documents() for place in whole.also(one.id)}
    assert any(one.endswith(f"/{other}/{WORDS[other]}-both.txt") and one in forbidden for one in sources)
    assert not any(WORDS[team] in one for one in forbidden)


def test_a_second_place_is_seen_only_where_all_that_the_filter_names_is_known_of_it(engine: thresher.Engine) -> None:
    (both,) = (one for one in engine.collection().documents() if "both" in one.source)
    first = next(team for team in WORDS if f"/{team}/" in both.source)
    (second,) = WORDS.keys() - {first}
    of_team = engine.collection(within=f"team = '{second}'")
    assert any(f"/{second}/" in one.source and "both" in one.source for one in of_team.documents())
    of_neither = engine.collection(within=f"of_{first} IS NULL")
    assert [Path(one.source).name for one in of_neither.documents()] == [f"{WORDS[second]}.txt"]


@pytest.mark.parametrize("change", ["merge", "append", "maintain"])
def test_nothing_is_written_through_a_filter(engine: thresher.Engine, change: str) -> None:
    store = engine.collection(within="team = 'north'").opened.store
    with pytest.raises(UsageError, match="may be read only"):
        getattr(store.record_table("documents"), change)(*([] if change == "maintain" else [[]]))


def test_a_collection_with_a_filter_tells_no_size(seen: tuple[str, Collection]) -> None:
    assert seen[1].opened.store.size() == (0, 0)
