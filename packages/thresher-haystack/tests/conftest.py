from __future__ import annotations

from pathlib import Path

import pytest
from adapter_recipes import indexed_home


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose collection holds the notes of `adapter_recipes`; look, do not change."""
    return indexed_home(tmp_path_factory.mktemp("indexed"))
