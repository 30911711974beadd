"""Which place holds which document, against a model of two dictionaries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.making import document
from thresher.indexing.catalog import Catalog, Entry, SourceRef
from thresher.types import Document, Page


def test_another_title_under_the_same_text_is_an_update_that_keeps_the_number() -> None:
    catalog = Catalog([])
    catalog.put([document("a.txt", "one", title="Old"), document("b.txt", "one", title="Elsewhere")])
    assert not catalog.holds(document("a.txt", "one", title="New"))
    assert catalog.holds(document("b.txt", "one", title="New"))  # a second source has no say
    changes = catalog.put([document("a.txt", "one", title="New")])
    ((restated, entry),) = changes.new.values()
    assert (restated.title, entry.number, entry.places) == ("New", 1, (SourceRef("a.txt"), SourceRef("b.txt")))
    assert changes.restated == {restated.id}
    assert (changes.updated, changes.unchanged) == (1, 0)
    assert catalog.put([document("a.txt", "one", title="New")]).unchanged == 1


def test_pages_dates_and_metadata_are_part_of_what_is_said_about_a_text() -> None:
    catalog = Catalog([])
    plain = document("a.txt", "one")
    catalog.put([plain])
    for other in (
        document("a.txt", "one", date="2020-01-01"),
        document("a.txt", "one", metadata={"year": 3}),
        document("a.txt", "one", pages=(Page(1, 0, 3),)),
        document("a.txt", "one", kind="markdown"),
        document("a.txt", "one", figures=((0, 3),)),
    ):
        assert not catalog.holds(other)
    assert catalog.holds(plain)


def test_a_reserved_number_is_never_given_again() -> None:
    catalog = Catalog([Entry("x", 4, (SourceRef("x"),))])
    catalog.reserve(9)
    (_, entry), *_ = catalog.put([document("a.txt", "one")]).new.values()
    assert entry.number == 10


PLACES = st.sampled_from([("p1", ""), ("p2", ""), ("p3", ""), ("1", "c.jsonl"), ("2", "c.jsonl"), ("1", "d.jsonl")])
TEXTS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
BATCHES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.dictionaries(PLACES, TEXTS, max_size=5)),
        st.tuples(st.just("remove"), st.lists(PLACES, max_size=3, unique=True)),
    ),
    max_size=12,
)


@given(BATCHES)
def test_a_catalog_is_a_map_from_places_to_texts(batches: list[tuple[str, dict[tuple[str, str], str]]]) -> None:
    catalog = Catalog([])
    model: dict[SourceRef, str] = {}
    stored: dict[str, Entry] = {}
    given_out: set[int] = set()
    for kind, content in batches:
        before = dict(model)
        if kind == "put":
            incoming: list[Document] = [
                document(source, text, container=container) for (source, container), text in content.items()
            ]
            changes = catalog.put(incoming)
            model |= {SourceRef(d.source, d.container): d.id for d in incoming}
            places = [SourceRef(d.source, d.container) for d in incoming]
            assert changes.unchanged == sum(before.get(place) == model[place] for place in places)
            assert changes.updated == sum(place in before and before[place] != model[place] for place in places)
            fresh = sum(place not in before for place in places)
            assert fresh <= changes.added + changes.duplicates <= fresh + changes.updated
        else:
            places = [SourceRef(*place) for place in content]
            changes = catalog.remove(places)
            assert changes.removed == sum(place in before for place in places)
            for place in places:
                model.pop(place, None)
        # What the changes say, done to what was stored, is what the catalog holds now.
        for id_ in changes.gone:
            stored.pop(id_, None)
        stored |= changes.kept
        for _, entry in changes.new.values():
            assert entry.number not in given_out
            given_out.add(entry.number)
            stored[entry.id] = entry
        assert set(catalog.places()) == set(model)
        assert {id_: catalog.entry(id_) for id_ in set(model.values())} == stored
        assert len(catalog) == len(set(model.values()))
        assert all(model[place] == id_ for id_, entry in stored.items() for place in entry.places)
        assert sum(len(entry.places) for entry in stored.values()) == len(model)
        for file in ("p1", "c.jsonl", "d.jsonl"):
            assert catalog.places_in(file) == sorted(place for place in model if place.file == file)
    assert catalog.highest == len(given_out)
