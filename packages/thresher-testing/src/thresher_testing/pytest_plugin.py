"""Options of `pytest --pyargs thresher_testing.store_contract --thresher-store NAME`.

pytest loads this at every start where Thresher is installed, so it imports nothing and does nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The store to test, and guarantees that it does not give."""
    group = parser.getgroup("thresher", "the contract of Thresher's stores")
    group.addoption("--thresher-store", metavar="NAME", help="the store to be tested, by its entry point's name")
    group.addoption(
        "--thresher-bm25-tolerance",
        metavar="SHARE",
        type=float,
        default=0.0,
        help="by which a BM25 score may differ from the reference's; 0, the default: the same to the last bit",
    )
    group.addoption(
        "--thresher-no-snapshots",
        action="store_true",
        help="a reader of the store that has begun may see later changes",
    )
