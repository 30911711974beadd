"""Questions at the page: what is shown of an answer, and of one that there is none of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import PHONE, ask, fits, violations, visiting
from playwright.sync_api import Browser, Page, expect

import thresher
from tests.servers.own import Running, running
from thresher_testing.llm_server import Reply, ScriptedServer

pytestmark = pytest.mark.slow

FERRY = "When does the first ferry to Gull Island leave?"
ALMANAC = "The football world cup in 1998 was won by France. The country beat Brazil in the final."
WRITTEN = "The first ferry to Gull Island leaves at 06:40 [1]. Its captain is a retired whaler from Norway [1]."


def choose(page: Page, label: str, value: str) -> None:
    page.get_by_text("How to ask").click()
    page.get_by_label(label).select_option(value)


def test_every_passage_is_kept_or_dropped_in_one_picture_and_in_a_table(page: Page) -> None:
    ask(page, FERRY)
    kept, dropped = page.locator(".threshing .kept"), page.locator(".threshing .dropped")
    expect(page.locator(".count")).to_have_text(f"{kept.count()} kept for the answer{dropped.count()} dropped")
    assert kept.count()
    assert dropped.count()
    assert page.locator(".bound").count() == 2  # the thresholds

    heights = [[box["y"] for box in map(bounds, side.all())] for side in (kept, dropped)]
    sieve = bounds(page.locator(".sieve"))["y"]
    assert min(heights[0]) > sieve > max(heights[1])

    page.get_by_text("The same as a table").click()
    rows = page.locator(".as-table tbody tr")
    assert rows.count() == kept.count() + dropped.count()
    expect(rows.first).to_contain_text("kept")
    assert violations(page) == []


def test_the_outline_of_a_document_is_a_list_whose_places_open(page: Page) -> None:
    ask(page, "What is the harbour handbook about?")
    items = page.locator(".answer li")
    expect(items.first).to_contain_text("This handbook is for skippers")
    assert items.locator("button.cite").count() == items.count()
    assert page.locator(".sources li").count() == items.count()
    assert violations(page) == []


def bounds(locator: Any) -> dict[str, float]:
    box: dict[str, float] = locator.bounding_box()
    return box


def test_a_grain_that_is_walked_to_tells_its_text_and_its_reason(page: Page) -> None:
    ask(page, FERRY)
    first = page.locator(".threshing [tabindex='0']")
    first.focus()
    page.keyboard.press("End")
    focused = page.locator(".threshing .one:focus")
    expect(focused).to_have_attribute("aria-label", re.compile(r"^dropped by \w+, (0\.\d\d|not judged): "))
    expect(page.locator(".card .fate")).to_contain_text("dropped by")
    assert page.locator(".card .why").inner_text()
    assert page.locator(".card .card-text").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#panel mark").first).to_be_visible()


def test_a_question_that_the_documents_do_not_answer_is_refused_with_its_reason(page: Page) -> None:
    ask(page, "Which medicine helps against malaria?")
    expect(page.locator(".refusal h3")).to_have_text("Not answered")
    expect(page.locator(".refusal-text")).to_have_text("No answer found in your documents.")
    expect(page.locator(".refusal .why")).to_have_count(0)
    expect(page.locator(".judged")).to_contain_text("Evidence: insufficient")
    sentences = page.locator(".nearest q").all_inner_texts()
    assert len(set(sentences)) == 3
    assert all(len(one.split()) > 3 for one in sentences)
    page.locator(".nearest button").first.click()
    expect(page.locator("#panel :is(mark, .pdf-mark)").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".answer")).to_have_count(0)
    assert violations(page) == []


def test_what_comes_from_outside_says_so(page: Page) -> None:
    choose(page, "Elsewhere", "collection:archive")
    ask(page, "What was the Skerry called before 1790?")
    expect(page.locator(".answer")).to_contain_text("Priest's Rock")
    expect(page.locator(".sources .outside-tag")).to_have_text("from outside")
    page.locator("button.cite").first.click()
    expect(page.locator("#panel mark")).to_contain_text("Priest's Rock")
    assert violations(page) == []


def test_a_question_that_fails_says_why_and_can_be_asked_again(page: Page) -> None:
    page.get_by_text("How to ask").click()
    page.get_by_label("Only where").fill("kind === 3")
    ask(page, FERRY)
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("This question failed.")
    expect(problem.get_by_role("button", name="Ask again")).to_be_visible()
    assert violations(page) == []


def test_what_a_document_says_is_never_read_as_markup(browser: Browser, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=document.body.remove()>"
    note = tmp_path / "note.md"
    note.write_text(f"# {hostile} rules\n\nThe harbour of {hostile} was built in 1850.\n", encoding="utf-8")
    with running(tmp_path / "home") as one:
        one.service.collection().add(note)
        with visiting(browser, one.url) as page:
            ask(page, f"When was the harbour of {hostile} built?")
            expect(page.locator(".question")).to_contain_text(hostile)
            expect(page.locator(".said, .card").first).to_be_visible()
            page.locator(".threshing .one").first.click()
            expect(page.locator("#panel")).to_contain_text("was built in 1850")
            assert page.locator("img").count() == 0


NEAREST = "The line was electrified in 1988."


def test_a_doubt_says_why_and_the_text_around_its_passage_is_opened_by_a_key_on_a_phone(
    browser: Browser, town: Running
) -> None:
    question = "When was the railway from Fernby to Harrow opened?"
    answer = town.client.post("/api/collections/default/ask", json={"question": question}).json()
    cited = answer["citations"][0]
    start = cited["start"] + cited["quote"].index(NEAREST)
    cited |= {"start": start, "end": start + len(NEAREST), "quote": NEAREST, "mark": None}
    answer |= {"text": f"In doubt, the nearest passage: “{NEAREST}” [1]", "state": "doubtful", "certainty": 0.95}
    answer |= {"reason": "The passage does not name Seal Rock.", "citations": [cited], "alternatives": []}
    with visiting(browser, town.url, viewport=PHONE) as page:
        page.route("**/ask", lambda route: route.fulfill(json=answer))
        ask(page, question)
        expect(page.locator(".said > .why")).to_have_text("In doubt: The passage does not name Seal Rock.")
        expect(page.locator(".judged")).to_contain_text("Answer: in doubt, 19 of 20 such answers are right")
        around = page.locator(".sources .around")
        expect(around.locator("mark")).to_be_hidden()
        around.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(around.locator("mark")).to_have_text(NEAREST)
        expect(around).to_contain_text("was opened in 1871")
        assert fits(page)
        assert violations(page) == []


SHEET = """# Workshop

## Doors

Sold by the piece.

| Model | Price | Wood |
|---|---|---|
| Oak | 1450 | solid |
| Pine | 690 | glued |
"""


def test_tables_and_headings_are_shown_as_such(browser: Browser, tmp_path: Path) -> None:
    note = tmp_path / "doors.md"
    note.write_text(SHEET, encoding="utf-8")
    with running(tmp_path / "home") as one:
        one.service.collection().add(note)
        with visiting(browser, one.url) as page:
            ask(page, "Which doors are sold by the piece?")
            expect(page.locator(".said .grid th").first).to_have_text("Model")
            expect(page.locator(".said")).not_to_contain_text("|")
            page.locator(".said .cite").first.click()
            document = page.locator("#panel .document-text")
            expect(document.locator("tr")).to_have_count(3)
            expect(document.locator(".heading")).to_have_text(["Workshop", "Doors"])
            expect(document.locator("mark").first).to_be_visible()
            expect(document).not_to_contain_text("|")
            assert violations(page) == []


# --- with a chat model ------------------------------------------------------------------------------------------------


def writes(body: Any) -> Reply:
    """An answer whose second sentence the documents do not show; anything else is not readable."""
    first = str(body["messages"][0]["content"])
    return Reply(WRITTEN if first.startswith("You answer a question from numbered pieces") else "none")


@pytest.fixture
def written(browser: Browser, town_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """The page of a server whose chat model says `WRITTEN`."""
    with ScriptedServer(writes) as model:
        monkeypatch.setenv("THRESHER_LLM__BASE_URL", model.base_url)
        monkeypatch.setenv("THRESHER_LLM__MODEL", "scripted")
        with running(town_home) as one, visiting(browser, one.url) as page:
            yield page


def test_a_sentence_that_nothing_shows_is_marked_by_more_than_colour(written: Page) -> None:
    ask(written, FERRY)
    sentences = written.locator(".answer .sentence")
    expect(sentences).to_have_count(2)
    expect(sentences.nth(0).locator(".state")).to_have_text("✓")
    expect(sentences.nth(1).locator(".state")).to_have_text("unverified")
    assert "dotted" in sentences.nth(1).evaluate("(one) => getComputedStyle(one).textDecorationStyle")
    expect(written.locator(".tallies")).to_contain_text("1 unverified")
    expect(written.locator(".sentences li q")).to_contain_text("retired whaler")
    expect(written.locator(".cost")).to_contain_text("model call")
    expect(written.locator(".cost")).to_contain_text("sent to 127.0.0.1")
    assert violations(written) == []


def test_a_table_of_a_model_is_a_table_with_its_markers_in_their_rows(
    browser: Browser, town_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = "| The first ferry to Gull Island | leaves at 06:40 from the east quay [1] |"
    rows = f"{first}\n| Its captain is | a retired whaler |"
    table = f"| What | Answer |\n|---|---|\n{rows}"
    with ScriptedServer(
        lambda body: Reply(table if "numbered pieces" in str(body["messages"][0]) else "none")
    ) as model:
        monkeypatch.setenv("THRESHER_LLM__BASE_URL", model.base_url)
        monkeypatch.setenv("THRESHER_LLM__MODEL", "scripted")
        with running(town_home) as one, visiting(browser, one.url) as page:
            ask(page, FERRY)
            expect(page.locator(".answer th")).to_have_text(["What", "Answer"])
            expect(page.locator(".answer td").nth(1)).to_contain_text("06:40")
            expect(page.locator(".answer td .cite")).not_to_have_count(0)
            expect(page.locator(".answer td").nth(3)).to_contain_text("unverified")
            expect(page.locator(".answer")).not_to_contain_text("|")


def test_a_follow_up_says_how_it_was_understood_and_can_be_asked_as_written(page: Page) -> None:
    ask(page, "When was the lighthouse of Fernby built?")
    ask(page, "And who rebuilt its lamp?")
    expect(page.locator(".question")).to_have_text(
        ["And who rebuilt its lamp?", "When was the lighthouse of Fernby built?"]
    )
    understood = page.locator(".turn").first.locator(".standalone")
    expect(understood).to_contain_text("Understood as And who rebuilt its lamp? (")
    understood.get_by_role("button", name="Ask it as written").click()
    expect(page.locator(".turn")).to_have_count(3)
    expect(page.locator(".turn").first.locator(".answer, .refusal")).to_have_count(1)
    expect(page.locator(".turn").first.locator(".standalone")).to_be_empty()


def test_the_marked_sentence_of_a_long_passage_is_in_view_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "wall.md").write_text(
        "# The wall\n\n"
        + "The log of the harbour office was read by hand and compared with the gauge. " * 9
        + "\n\n## What follows\n\nThe present wall is 6.8 metres high. "
        + "It is old. " * 40
    )
    with thresher.open(tmp_path / "home") as collection:
        collection.add(tmp_path / "wall.md")
    with running(tmp_path / "home") as one, visiting(browser, one.url, viewport=PHONE) as page:
        ask(page, "How high is the present wall?")
        marked = page.locator(".answer strong").first
        expect(marked).to_contain_text("6.8 metres")
        expect(marked).to_be_in_viewport(ratio=1)
        field, heading = page.get_by_label("Your question"), page.get_by_role("heading", name="How high is the present")
        assert bounds(field)["y"] < bounds(heading)["y"] < bounds(marked)["y"]
        page.locator(".cite").first.click()
        opened = page.locator("#panel .document-text mark strong")
        expect(opened).to_have_text("The present wall is 6.8 metres high.")
        expect(opened).to_be_in_viewport(ratio=1)
