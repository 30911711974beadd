from __future__ import annotations

from typing import Any

import pytest
from haystack.errors import FilterError
from haystack_integrations.components.retrievers.thresher.filters import where_of

from thresher.filters import holds, parse

ROWS = [
    {"kind": "pdf", "page": 1, "title": "Annie's ferry"},
    {"kind": "pdf", "page": 7, "title": "Railways"},
    {"kind": "text", "page": None, "title": "Cheese"},
]


def condition(field: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": f"meta.{field}", "operator": operator, "value": value}


@pytest.mark.parametrize(
    ("filters", "passing"),
    [
        (condition("kind", "==", "pdf"), [0, 1]),
        ({"field": "kind", "operator": "==", "value": "pdf"}, [0, 1]),
        (condition("kind", "!=", "pdf"), [2]),
        (condition("page", ">", 1), [1]),
        (condition("page", ">=", 1), [0, 1]),
        (condition("page", "<", 7), [0]),
        (condition("page", "<=", 7), [0, 1]),
        (condition("page", "==", None), [2]),
        (condition("page", "!=", None), [0, 1]),
        (condition("title", "==", "Annie's ferry"), [0]),
        (condition("title", "in", ["Railways", "Cheese"]), [1, 2]),
        (condition("title", "not in", ["Railways", "Cheese"]), [0]),
        ({"operator": "AND", "conditions": [condition("kind", "==", "pdf"), condition("page", "==", 7)]}, [1]),
        ({"operator": "OR", "conditions": [condition("kind", "==", "text"), condition("page", "==", 7)]}, [1, 2]),
        ({"operator": "NOT", "conditions": [condition("kind", "==", "pdf"), condition("page", "==", 7)]}, [0, 2]),
    ],
)
def test_a_filter_lets_the_same_pass(filters: dict[str, Any], passing: list[int]) -> None:
    read = parse(where_of(filters))
    assert [at for at, row in enumerate(ROWS) if holds(read, row)] == passing


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"field": "meta.kind"},
        {"operator": "XOR", "conditions": [condition("kind", "==", "pdf")]},
        {"operator": "AND", "conditions": []},
        condition("kind", "like", "p%"),
        condition("kind", "in", []),
        condition("kind", "==", {"a": 1}),
        condition("page", ">", [1]),
    ],
)
def test_what_is_no_filter_is_told(filters: dict[str, Any]) -> None:
    with pytest.raises(FilterError):
        where_of(filters)


def test_a_name_cannot_leave_its_place() -> None:
    with pytest.raises(FilterError, match="is no name of a field"):
        where_of(condition('kind" = 1 OR "x', "==", 1))
