"""The other views, the keyboard, light and dark, and the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import PHONE, ask, violations, visiting
from playwright.sync_api import Browser, Page, Route, expect

from tests.servers.own import Running, running
from thresher_server.security.keys import Keys, Scope

pytestmark = pytest.mark.slow

BUILT = "When was the lighthouse of Fernby built?"


def test_documents_are_searched_filtered_and_opened(page: Page, town: Running) -> None:
    page.goto(f"{town.url}/#/documents")
    expect(page.get_by_text("10 documents")).to_be_visible()
    page.get_by_label("Kind").select_option("pdf")
    expect(page.locator(".documents > li")).to_have_count(2)
    page.get_by_label("Search documents").fill("light")
    expect(page.locator(".documents > li")).to_have_count(1)
    page.get_by_role("button", name="The lighthouse of Fernby", exact=True).click()
    expect(page.locator(".page-status")).to_contain_text("Page 1 of 2")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_label("Filter", exact=True).fill("nothing = ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="filter")).to_be_visible()


def test_thumbs_are_kept_and_shown_with_the_past_question(page: Page, town: Running) -> None:
    ask(page, BUILT)
    page.get_by_role("button", name="This is wrong").click()
    page.get_by_label("What would have been right?").fill("1850")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("kept with the right answer")).to_be_visible()
    kept = town.service.collection().labels.labels()[-1]
    assert (kept.question, kept.right, kept.answer) == (BUILT, False, "1850")

    page.get_by_role("link", name="Past questions").click()
    row = page.locator(".past li").filter(has_text=BUILT)
    expect(row).to_contain_text("wrong, you said")
    assert violations(page) == []
    row.get_by_role("link").click()
    expect(page.get_by_role("button", name="This is wrong")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".threshing .kept").first).to_be_visible()
    assert violations(page) == []


def test_what_was_not_answered_stands_among_the_gaps(page: Page, town: Running) -> None:
    ask(page, "Is there a cinema in Fernby?")
    page.get_by_role("link", name="See the gaps").click()
    gap = page.locator(".gap").filter(has_text="Is there a cinema in Fernby?")
    expect(gap.locator(".hint").filter(has_text="refused").first).to_be_visible()
    expect(gap.locator(".gap-nearest li")).to_have_count(3)
    assert violations(page) == []
    gap.get_by_role("button", name="Ask again: Is there a cinema in Fernby?").click()
    expect(page.locator(".turn").last).to_contain_text("Not answered")


def test_a_key_that_may_not_ask_is_told_so_and_sees_its_own_collection(browser: Browser, town_home: Path) -> None:
    key = Keys(town_home).make("librarian", [Scope.READ], ["archive"])
    with running(town_home, server__require_key=True) as one, visiting(browser, one.url) as page:
        page.get_by_role("textbox", name="Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("You may read, not ask.")
        expect(page.get_by_label("Collection")).to_have_value("archive")
        page.get_by_role("link", name="Documents").click()
        expect(page.get_by_text("2 documents")).to_be_visible()
        expect(page.locator(".drop")).to_have_count(0)
        assert violations(page) == []


def test_everything_is_done_with_the_keyboard_alone(page: Page) -> None:
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("When does the first ferry to Gull Island leave?")
    page.keyboard.press("Enter")
    page.locator(".sources").wait_for()
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.matches('.cite[data-marker=\"1\"]')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator(".page-status")).to_contain_text("the sentence is marked")
    expect(page.get_by_role("button", name="Close the document")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("button.cite").first).to_be_focused()


def test_who_writes_while_the_view_is_still_loading_keeps_the_focus(page: Page, town: Running) -> None:
    ask(page, BUILT)
    page.goto(f"{town.url}/#/settings")
    page.reload()
    page.get_by_text("Every setting by its key").click()
    page.get_by_label("Search settings").wait_for()
    held: list[Route] = []
    page.route("**/traces?*", lambda route: held.append(route))  # Playwright takes no bound method of a list
    with page.expect_request("**/traces?*"):
        page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_label("Your question").fill("What does a mooring")
    for route in held:
        route.continue_()
    page.get_by_role("heading", name="Asked before").wait_for()
    page.keyboard.type(" cost?")
    expect(page.get_by_label("Your question")).to_have_value("What does a mooring cost?")


def test_a_key_is_asked_for_once_and_kept_in_the_tab(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    key = Keys(home).make("reader", [Scope.READ, Scope.ASK], None)
    with running(home, server__require_key=True) as one, visiting(browser, one.url) as page:
        page.get_by_role("textbox", name="Key").fill("thr_0_0")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not known here")
        assert violations(page) == []
        page.get_by_role("textbox", name="Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("This collection holds no documents yet.")).to_be_visible()  # it may add none
        page.reload()
        expect(page.get_by_text("This collection holds no documents yet.")).to_be_visible()
        assert page.evaluate("Object.values(localStorage).some((one) => one.includes('thr_'))") is False


def test_a_sign_in_is_remembered_as_long_as_the_person_says_and_ends_with_sign_out(
    browser: Browser, tmp_path: Path
) -> None:
    key = Keys(tmp_path / "home").make("reader", [Scope.READ, Scope.ASK], None)
    with running(tmp_path / "home", server__require_key=True) as one, visiting(browser, one.url) as page:
        page.get_by_role("textbox", name="Key").fill(key)
        page.get_by_label("Stay signed in").select_option("for 30 days")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("This collection holds no documents yet.")).to_be_visible()
        other = page.context.new_page()  # another tab
        other.goto(f"{one.url}/#/settings")
        expect(other.locator(".facts dd").first).to_have_text("reader")
        assert "thr_" not in other.evaluate("document.cookie + JSON.stringify([localStorage, sessionStorage])")
        other.get_by_role("button", name="Sign out").click()
        expect(other.get_by_role("dialog")).to_contain_text("asks for a key")
        assert page.context.cookies() == []


def test_the_api_is_described_without_anything_from_elsewhere(page: Page, town: Running) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{town.url}/docs")
    operation = page.locator("details").filter(has_text="POST /api/collections/{collection}/ask")
    operation.locator("summary").click()
    expect(operation).to_contain_text("question (needed)")
    assert all(url.startswith(town.url) for url in asked)
    assert violations(page) == []


def test_a_page_of_a_pdf_fits_a_phone(browser: Browser, town: Running) -> None:
    with visiting(browser, town.url, viewport=PHONE) as page:
        ask(page, "When does the first ferry to Gull Island leave?")
        page.locator("button.cite").first.click()
        page.locator(".pdf-mark").first.wait_for()
        assert page.locator(".sheet-room").evaluate("(room) => room.scrollWidth <= room.clientWidth")


def test_the_address_of_a_citation_opens_its_document_in_a_tab_of_its_own(page: Page, town: Running) -> None:
    found = town.client.post("/api/collections/default/search", json={"question": "the lens of the museum"}).json()
    hit = next(one for one in found["hits"] if one["source"].endswith("museum.md"))
    page.goto(hit["url"])
    expect(page.locator("mark").last).to_contain_text("Its largest exhibit is the lens of 1849")
    expect(page).to_have_title("The town museum · Thresher")
    assert violations(page) == []
    page.goto(f"{town.url}/d/default/nothing?start=0&end=1")
    expect(page.get_by_role("alert")).to_contain_text("This document cannot be opened.")
