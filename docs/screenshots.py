"""Draws the pictures of docs/page.md: a real server over documents of a town that does not exist, seen in Chromium.

    .venv/bin/python docs/screenshots.py [NAME...]

Needs Debian's chromium, and runs the same visits as packages/thresher-server/tests/page. Of a name it draws only that
picture.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages" / "thresher-server" / "tests" / "page")]

from browsing import PHONE, ask, chromium, drop, visiting  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page  # noqa: E402
from samples import ARCHIVE, HANDBOOK, pdf, write_notes, write_town  # noqa: E402

import thresher  # noqa: E402
from tests.servers.own import Running, running  # noqa: E402
from thresher_testing.llm_server import Reply, ScriptedServer  # noqa: E402

IMAGES = ROOT / "docs" / "images"

LARGEST = 150_000
"""Bytes of a picture, so that the pages of docs stay quick to load."""

COLOURS = 256
"""Of a picture: a page has few, and the rest are the edges of its letters."""

SETTLED_MILLISECONDS = 500
"""That fonts and pictures may take to stand still."""

WRITTEN = (
    "The first ferry to Gull Island leaves at 06:40 from the east quay [1]. The crossing takes 35 minutes in calm "
    "weather [1]. Its captain is a retired whaler from Norway [1]."
)
"""What a chat model may say of the ferry: of its captain the documents say nothing."""


BERTHS = {
    "berths.md": "# Berths\n\n| Berth | Quay | Length (m) | Price a night | State |\n|---|---|---|---|---|\n"
    "| A1 | east | 9 | 18.90 | free |\n| A2 | east | 12 | 25.20 | taken |\n| B1 | west | 8 | 16.80 | free |\n"
    "| B2 | west | 14 | 29.40 | free |\n| C1 | south | 10 | 21.00 | taken |\n"
}


class Town:
    """A home with the town's documents, and what its pictures are drawn with."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self.folder, self.browser = folder, browser
        self.home = folder / "home"
        (folder / "files").mkdir()
        with thresher.open(self.home) as documents:
            documents.add(*write_town(folder / "files"))
        with thresher.open(self.home, collection="archive") as archive:
            archive.add(*write_notes(folder / "old", ARCHIVE))

    @cached_property
    def with_berths(self) -> Path:
        """A home with the documents of the town and a table."""
        home = self.folder / "with berths"
        with thresher.open(home) as documents:
            documents.add(self.folder / "files", *write_notes(self.folder / "table", BERTHS))
        return home

    @contextmanager
    def page(self, view: str = "", *, home: Path | None = None, **options: Any) -> Iterator[Page]:
        """The page as a fresh visitor sees it."""
        with running(home or self.home) as one, visiting(self.browser, f"{one.url}/{view}", **options) as page:
            page.locator("h1").first.wait_for()
            yield page

    @contextmanager
    def modelled(self, seconds: float) -> Iterator[Running]:
        """A server whose chat model writes `WRITTEN`, so many seconds after it is asked to."""

        def reply(body: Any) -> Reply:
            is_answer = str(body["messages"][0]["content"]).startswith("You answer a question from numbered pieces")
            return Reply(WRITTEN, seconds=seconds) if is_answer else Reply("none")

        with ScriptedServer(reply) as model:
            given = {"THRESHER_LLM__BASE_URL": model.base_url, "THRESHER_LLM__MODEL": "scripted"}
            os.environ |= given
            try:
                with running(self.home) as one:
                    yield one
            finally:
                for name in given:
                    del os.environ[name]


def keep(page: Page, name: str) -> None:
    """Write what is seen to docs/images."""
    page.wait_for_timeout(SETTLED_MILLISECONDS)
    file = IMAGES / f"{name}.png"
    drawn = Image.open(BytesIO(page.screenshot())).convert("RGB")
    drawn.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, optimize=True)
    size = file.stat().st_size
    assert size < LARGEST, f"{file} has {size:,} bytes"
    sys.stdout.write(f"{file.relative_to(ROOT)} {size:,} bytes\n")


def choose(page: Page, label: str, value: str) -> None:
    """Change how the next question is asked."""
    page.get_by_text("How to ask").click()
    page.get_by_label(label).select_option(value)


def away(page: Page) -> None:
    """Take the cursor out of the field, as a person does who reads."""
    page.evaluate("document.activeElement.blur()")


# --- the pictures -----------------------------------------------------------------------------------------------------


def first_visit(town: Town, name: str) -> None:
    """Nothing is there yet."""
    with town.page(home=town.folder / "empty") as page:
        page.locator(".drop").wait_for()
        keep(page, name)


def answered(question: str, **options: Any) -> Callable[[Town, str], None]:
    """A question with what became of it."""

    def drawn(town: Town, name: str) -> None:
        with town.page(**options) as page:
            ask(page, question)
            away(page)
            keep(page, name)

    return drawn


def talked(*questions: str, **options: Any) -> Callable[[Town, str], None]:
    """Questions one after the other, the last one in view."""

    def drawn(town: Town, name: str) -> None:
        with town.page(home=town.with_berths, **options) as page:
            for question in questions:
                ask(page, question)
            away(page)
            keep(page, name)

    return drawn


def corrected(town: Town, name: str) -> None:
    """The documents do not suffice, another collection does."""
    with town.page() as page:
        choose(page, "Elsewhere", "collection:archive")
        ask(page, "What was the Skerry called before 1790?")
        away(page)
        keep(page, name)


def cited(**options: Any) -> Callable[[Town, str], None]:
    """A citation opened in its PDF."""

    def drawn(town: Town, name: str) -> None:
        with town.page(**options) as page:
            ask(page, "When does the first ferry to Gull Island leave?")
            page.locator("button.cite").first.click()
            page.locator(".pdf-mark").first.wait_for()
            away(page)
            keep(page, name)

    return drawn


def watched(town: Town, name: str) -> None:
    """While the answer is written."""
    with town.modelled(seconds=8) as one, visiting(town.browser, one.url) as page:
        page.get_by_label("Your question").fill("When does the first ferry to Gull Island leave?")
        page.keyboard.press("Enter")
        page.locator(".steps .ended[data-step=refine]").wait_for()
        away(page)
        keep(page, name)


def unverified(town: Town, name: str) -> None:
    """A chat model wrote a sentence that nothing shows."""
    with town.modelled(seconds=0) as one, visiting(town.browser, one.url) as page:
        ask(page, "When does the first ferry to Gull Island leave?")
        away(page)
        keep(page, name)


def compared(town: Town, name: str) -> None:
    """Two recipes side by side."""
    with town.page() as page:
        choose(page, "Beside", "hybrid")
        ask(page, "How high is the lighthouse?")
        away(page)
        keep(page, name)


def uploaded(town: Town, name: str) -> None:
    """Of three files two cannot be read."""
    broken, empty = town.folder / "minutes-2019.pdf", town.folder / "notes.txt"
    broken.write_bytes(b"%PDF-1.7\nnothing that a reader understands")
    empty.write_text("")
    with town.page("#/documents", home=town.folder / "uploaded") as page:
        drop(page, pdf(town.folder / "harbour-handbook.pdf", "Fernby Harbour Handbook", HANDBOOK), broken, empty)
        page.locator(".job.partly").wait_for()
        keep(page, name)


def gapped(town: Town, name: str) -> None:
    """What was asked and not answered."""
    questions = (
        "Is there a cinema in Fernby?",
        "Which films does the cinema in Fernby show?",
        "Who is the mayor of Fernby?",
        "What is the mayor of Fernby called?",
        "Who was elected mayor of Fernby?",
        "What is the phone number of the library?",
    )
    with town.page() as page:
        for question in questions:
            page.get_by_role("button", name="New conversation").click() if page.locator(".turn").count() else None
            ask(page, question)
        page.get_by_role("link", name="Gaps", exact=True).click()
        page.locator(".gap").first.wait_for()
        keep(page, name)


PICTURES: dict[str, Callable[[Town, str], None]] = {
    "page-first-visit": first_visit,
    "page-correct": answered("When does the first ferry to Gull Island leave?"),
    "page-citation": cited(),
    "page-watching": watched,
    "page-ambiguous-dark": answered("What does a mooring cost?", color_scheme="dark"),
    "page-incorrect": corrected,
    "page-abstained": answered("Which medicine helps against malaria?"),
    "page-unverified": unverified,
    "page-compared": compared,
    "page-failed-upload": uploaded,
    "page-gaps": gapped,
    "page-phone": answered("When does the first ferry to Gull Island leave?", viewport=PHONE),
    "page-phone-citation": cited(viewport=PHONE),
}


TALKS = {
    "conversation": (
        "When does the first ferry to Gull Island leave?",
        "And the last one back?",
        "How much is a return ticket?",
    ),
    "overview": ("What is the harbour handbook about?",),
    "list": ("Which berths are free?",),
    "comparison": ("Which is longer, berth A2 or berth B2?",),
    "doubtful": ("Can I swim near the ferry?",),
}
for kind, asked in TALKS.items():
    PICTURES[f"page-{kind}"] = talked(*asked)
    PICTURES[f"page-phone-{kind}"] = talked(*asked, viewport=PHONE)


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        town = Town(Path(folder), browser)
        for name in names or PICTURES:
            PICTURES[name](town, name)


if __name__ == "__main__":
    main(sys.argv[1:])
