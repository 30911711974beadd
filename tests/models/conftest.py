from __future__ import annotations

import pytest

from thresher.models import chat


@pytest.fixture(autouse=True)
def nothing_known_of_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may have the port of one before it, of which this process knows what it takes."""
    monkeypatch.setattr(chat, "_forms", {})
    monkeypatch.setattr(chat, "_contexts", {})
