"""A filter means the same in Lance's SQL and evaluated in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.making import ENCODER, row
from thresher.errors import StoreError
from thresher.filters import And, Comparison, Filter, In, IsNull, Like, Not, Or, holds
from thresher.stores.lance import LanceStore
from thresher.stores.lance_chunks import LanceChunkTable
from thresher.stores.lance_table import to_sql

TEXTS = ["", "a", "B", "b", "it's", "50%", "a_b", "back\\slash", "größe", "2014", "2014.0", "x' OR '1'='1", "\0"]
PAGES = [None, 0, 1, 2, 3, 2**53]
ROWS: dict[str, dict[str, Any]] = {
    f"r{n}": {"title": text, "date": TEXTS[-n] if n % 3 else None, "page": PAGES[n % len(PAGES)]}
    for n, text in enumerate(TEXTS)
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> LanceChunkTable:
    store = LanceStore(tmp_path_factory.mktemp("filters"))
    store.create("chunks_f", dimension=ENCODER.dimension)
    opened = store.open("chunks_f")
    opened.append([row(id_, "text", **fields) for id_, fields in ROWS.items()])
    return opened


def leaves() -> st.SearchStrategy[Filter]:
    texts, pages = st.sampled_from(TEXTS), st.sampled_from([-1, 0, 1, 2, 4])
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    patterns = st.lists(st.sampled_from(["%", "_", "a", "b", "B", "0", "\\%", "\\\\", "'"]), max_size=4).map("".join)
    fields = st.sampled_from(["title", "date"])
    return st.one_of(
        st.builds(Comparison, fields, operators, texts),
        st.builds(Comparison, st.just("page"), operators, pages),
        st.builds(In, fields, st.lists(texts, max_size=3).map(tuple)),
        st.builds(In, st.just("page"), st.lists(pages, max_size=3).map(tuple)),
        st.builds(Like, fields, patterns, st.booleans()),
        st.builds(IsNull, st.sampled_from(["title", "date", "page"])),
    )


FILTERS = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(FILTERS)
def test_lance_lets_the_rows_through_for_which_the_filter_holds(table: LanceChunkTable, where: Filter) -> None:
    found = table.nearest(ENCODER.encode_query("text"), limit=50, where=where)
    assert {chunk.id for chunk, _ in found} == {id_ for id_, fields in ROWS.items() if holds(where, fields)}


def test_a_chain_of_five_thousand_conditions_is_answered(table: LanceChunkTable) -> None:
    where = Or(tuple(Comparison("page", "=", n) for n in range(3, 5000)))
    assert len(table.nearest(ENCODER.encode_query("text"), limit=50, where=where)) == 2


def test_only_a_name_stands_for_a_column() -> None:
    assert to_sql(In("id", ("a", "b'c"))) == "id IN ('a', 'b''c')"
    with pytest.raises(StoreError, match="is not a column"):
        to_sql(IsNull("1 = 1) OR (page"))
