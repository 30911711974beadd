"""The page in one breath, for every run of the tests; its other visits are slow."""

from __future__ import annotations

from pathlib import Path

from browsing import ask, violations, visiting
from playwright.sync_api import Browser, expect

from tests.servers.own import Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION
from thresher.indexing.store import DocumentStore


def test_a_question_is_asked_and_its_source_is_opened_highlighted(browser: Browser, served: Running) -> None:
    with visiting(browser, served.url) as page:
        ask(page, "When was the lighthouse of Fernby built?")
        expect(page.locator(".answer")).to_contain_text("1849")
        page.locator("button.cite").first.click()
        expect(page.locator("#panel mark")).to_contain_text("built in 1849")
        assert violations(page) == []


def test_a_source_whose_file_has_changed_says_so(browser: Browser, indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    store = DocumentStore(home / "collections" / "default")
    store.record_table("read_files").merge([{**row, "modified": 1} for row in store.files().values()])
    with running(home) as server, visiting(browser, server.url) as page:
        cited = server.client.post(f"{DEFAULT}/ask", json=QUESTION).json()["citations"][0]
        assert cited["stale"] == "changed"
        ask(page, "When was the lighthouse of Fernby built?")
        expect(page.locator(".sources .source-place")).to_contain_text("changed since it was indexed")
