"""The page in one breath, for every run of the tests; its other visits are slow."""

from __future__ import annotations

from browsing import ask, violations, visiting
from playwright.sync_api import Browser, expect

from tests.servers.own import Running


def test_a_question_is_asked_and_its_source_is_opened_highlighted(browser: Browser, served: Running) -> None:
    with visiting(browser, served.url) as page:
        ask(page, "When was the lighthouse of Fernby built?")
        expect(page.locator(".answer")).to_contain_text("1849")
        page.locator("button.cite").first.click()
        expect(page.locator("#panel mark")).to_contain_text("built in 1849")
        assert violations(page) == []
