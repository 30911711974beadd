"""A person at the page: Debian's Chromium, driven by Playwright, and what axe finds in what it shows."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")

AXE = Path(__file__).with_name("vendor") / "axe.min.js"

WIDE = {"width": 1360, "height": 900}
PHONE = {"width": 390, "height": 844}

ANSWER_MILLISECONDS = 15_000
"""That a question or an upload may take on a machine that does other things too."""

EXPECTED = ("the server responded with a status of",)
"""What Chromium writes on its console about replies that are no success, which a test asks for."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        expect.set_options(timeout=ANSWER_MILLISECONDS)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visiting(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page of a fresh visitor at an address; fails where a script failed or the policy refused something.

    `options` are those of a browser context, e.g. `viewport`, `color_scheme`, `reduced_motion`.
    """
    context: BrowserContext = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
    context.set_default_timeout(ANSWER_MILLISECONDS)
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(one in message.text for one in EXPECTED):
            complaints.append(message.text)

    context.on("console", heard)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    page = context.new_page()
    page.goto(url)
    try:
        yield page
    finally:
        context.close()
    assert not complaints, complaints


def ask(page: Page, question: str) -> None:
    """Write a question, send it, and wait until the answer is there."""
    before = page.locator(".turn").count()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn").nth(before).wait_for()
    page.get_by_role("button", name="Ask", exact=True).wait_for()


HAND_OVER = """(files) => {
  const data = new DataTransfer();
  for (const [name, content] of files) {
    data.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name));
  }
  const zone = document.querySelector(".drop");
  for (const event of ["dragenter", "dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""
"""What a browser does when a person lets files go over the page."""


def drop(page: Page, *files: Path) -> None:
    """Let files go over the place for them."""
    page.locator(".drop").wait_for()
    page.evaluate(HAND_OVER, [[file.name, base64.b64encode(file.read_bytes()).decode()] for file in files])


def violations(page: Page) -> list[str]:
    """What axe finds wrong with what is shown, each with the first place."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate("axe.run().then((told) => told.violations)")
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html']}" for one in found]


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
