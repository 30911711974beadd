"""A person who comes for the first time: drops a PDF, asks, reads where the answer stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import ask, drop, fits, violations, visiting
from playwright.sync_api import Browser, Page, expect
from samples import HANDBOOK, pdf

from tests.servers.own import running

pytestmark = pytest.mark.slow


def test_a_pdf_is_dropped_asked_and_opened_at_the_sentence(browser: Browser, tmp_path: Path) -> None:
    with running(tmp_path / "home") as one, visiting(browser, one.url) as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("Answers from your own documents.")
        assert violations(page) == []

        drop(page, pdf(tmp_path / "handbook.pdf", "Fernby Harbour Handbook", HANDBOOK))
        expect(page.get_by_role("heading", level=1)).to_have_text("What would you like to know?")

        ask(page, "When does the first ferry to Gull Island leave?")
        expect(page.locator(".answer")).to_contain_text("06:40")
        expect(page.locator(".judged")).to_contain_text("Answer: probably right, as ")
        expect(page.locator(".cost")).to_contain_text("nothing left this machine")
        assert violations(page) == []

        page.get_by_role("button", name="Source 1: Fernby Harbour Handbook").click()
        expect(page.locator(".page-status")).to_contain_text("Page 2 of 5")
        expect(page.locator(".page-status")).to_contain_text("the sentence is marked")
        assert "The first ferry to Gull Island leaves at 06:40 from the east quay" in marked_words(page)
        assert violations(page) == []

        page.keyboard.press("Escape")
        expect(page.locator("#panel")).to_be_hidden()
        expect(page.get_by_role("button", name="Source 1: Fernby Harbour Handbook")).to_be_focused()


def test_the_token_of_the_printed_address_serves_every_tab_and_is_not_shown(browser: Browser, tmp_path: Path) -> None:
    with running(tmp_path / "home", server__open=False) as one:
        with visiting(browser, one.url) as page:
            expect(page.get_by_role("dialog")).to_contain_text("asks for a key")
        with visiting(browser, f"{one.url}/#token={one.service.token}") as page:
            expect(page.get_by_role("heading", level=1)).to_have_text("Answers from your own documents.")
            assert page.url == f"{one.url}/"
            other = page.context.new_page()
            other.goto(f"{one.url}/#/documents")
            expect(other.locator(".view")).to_be_visible()
            expect(other.get_by_role("dialog")).to_have_count(0)


MARKED_WORDS = """() => {
  const marks = [...document.querySelectorAll(".pdf-mark")].map((one) => one.getBoundingClientRect());
  const inside = (box) => marks.some((mark) => box.left >= mark.left - 1 && box.right <= mark.right + 1
    && box.top >= mark.top - 1 && box.bottom <= mark.bottom + 1);
  let words = "";
  for (const piece of document.querySelectorAll(".textLayer span")) {
    const node = piece.firstChild;
    for (let at = 0; node && at < node.length; at += 1) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      if (inside(range.getBoundingClientRect())) words += node.data[at];
    }
    if (words && !words.endsWith(" ")) words += " ";
  }
  return words;
}"""
"""The letters on the page that lie under a mark."""


def marked_words(page: Page) -> str:
    return str(page.evaluate(MARKED_WORDS)).strip()


def test_a_file_that_cannot_be_read_says_why_and_what_to_do(browser: Browser, tmp_path: Path) -> None:
    broken = tmp_path / "minutes.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing that a reader understands")
    with running(tmp_path / "home") as one, visiting(browser, f"{one.url}/#/documents") as page:
        drop(page, broken)
        expect(page.locator(".job.failed, .job.partly")).to_be_visible()
        failed = page.locator("ul.failed li")
        expect(failed.locator("b")).to_have_text("minutes.pdf")
        assert len(failed.locator("span").first.inner_text()) > len("cannot be read")
        assert violations(page) == []


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(browser: Browser, tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    large.write_text("x" * 20_000)
    with (
        running(tmp_path / "home", server__max_upload_megabytes=0.01) as one,
        visiting(browser, f"{one.url}/#/documents") as page,
    ):
        drop(page, large)
        expect(page.locator("ul.failed li")).to_contain_text("is 20 kB, more than the 10 kB that one file may have")


def test_the_whole_of_it_fits_a_phone(browser: Browser, tmp_path: Path) -> None:
    phone = {"width": 390, "height": 844}
    with running(tmp_path / "home") as one, visiting(browser, one.url, viewport=phone, has_touch=True) as page:
        drop(page, pdf(tmp_path / "handbook.pdf", "Fernby Harbour Handbook", HANDBOOK))
        ask(page, "When does the first ferry to Gull Island leave?")
        assert fits(page)
        page.get_by_role("button", name="Source 1: Fernby Harbour Handbook").click()
        expect(page.locator(".page-status")).to_contain_text("the sentence is marked")
        assert fits(page)
        assert violations(page) == []
        page.keyboard.press("Escape")
        for view in ("documents", "past", "gaps", "settings"):
            page.goto(f"{one.url}/#/{view}")
            page.locator(".view").wait_for()
            assert fits(page), view
