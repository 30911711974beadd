"""The examples in docstrings say what is so."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests.test_rooms import PACKAGE

FILES = sorted(file for file in PACKAGE.parent.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8"))
MODULES = [".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in FILES]


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0
