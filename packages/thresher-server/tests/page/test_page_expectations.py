"""Answers that a person confirms, the last run of `thresher ci`, and the certificate below an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browsing import PHONE, ask, violations, visiting
from playwright.sync_api import Browser, expect

import thresher
from tests.servers.own import running
from thresher.judging.certificate import Certificate
from thresher_ci.knowledge import read
from thresher_ci.recording import confirmed, record
from thresher_ci.run import Job

pytestmark = pytest.mark.slow

HOTEL, DAYS, DOGS = "What may a hotel cost a night?", "How many days of leave are there?", "Are dogs allowed?"

HANDBOOK = {
    "travel.md": "# Travel\n\nThe train is booked in second class. A hotel may cost 140 euros a night.\n",
    "leave.md": "# Leave\n\nThere are 25 days of leave a year. Unused days end on 31 March.\n",
}


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    for name, text in HANDBOOK.items():
        (folder / name).write_text(text, encoding="utf-8")
    with thresher.open(tmp_path / "home") as collection:
        collection.add(folder)
    return folder


def shot(page: object, name: str) -> None:
    """A picture for a person, where THRESHER_PICTURES names a folder."""
    if folder := os.environ.get("THRESHER_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)  # type: ignore[attr-defined]


def test_an_answer_confirmed_on_the_page_is_expected_and_the_run_that_breaks_it_is_shown(
    browser: Browser, handbook: Path
) -> None:
    home, knowledge = handbook.parent / "home", handbook.parent / "knowledge.yaml"
    with running(home) as one, visiting(browser, one.url) as page:
        page.get_by_role("link", name="Expectations").click()
        expect(page.get_by_text("No run yet")).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        expect(page.get_by_label("Your question")).to_be_focused()
        ask(page, HOTEL)
        expect(page.get_by_role("button", name="Expect this")).to_have_count(0)
        page.get_by_role("button", name="This is right").click()
        expect(page.get_by_text("`thresher ci record` expects this answer")).to_be_visible()
        with thresher.open(home) as collection:
            record(knowledge, confirmed(collection, [], accept=False), documents=str(handbook))
        assert [one.question for one in read(knowledge)] == [HOTEL]
        job = Job(knowledge, home, "default", handbook, "corrective", {})
        assert not job.run().failed
        (handbook / "travel.md").write_text("# Travel\n\nThe train is booked in second class.\n", encoding="utf-8")
        assert job.run("last").failed
        page.get_by_role("link", name="Expectations").click()
        expect(page.get_by_role("alert")).to_contain_text("1 broken")
        broken = page.locator(".gap").filter(has_text=HOTEL)
        expect(broken).to_contain_text("A hotel may cost 140 euros a night.")
        expect(broken).to_contain_text("travel.md")
        shot(page, "expectations")
        assert violations(page) == []


def test_expect_this_writes_the_answer_to_the_file_of_the_server(browser: Browser, handbook: Path) -> None:
    home, knowledge = handbook.parent / "home", handbook.parent / "knowledge.yaml"
    with running(home, server__knowledge=str(knowledge)) as one:
        with visiting(browser, one.url) as page:
            ask(page, HOTEL)
            page.get_by_role("button", name="Expect this").click()
            expect(
                page.get_by_text("Expected from now on: “A hotel may cost 140 euros a night.” (travel.md).")
            ).to_be_visible()
            expect(page.get_by_role("button", name="This is right")).to_have_attribute("aria-pressed", "true")
            shot(page, "expect-desk")
            assert violations(page) == []
            page.get_by_role("button", name="Expect this").click()
            expect(page.get_by_text("Expected before, nothing is written")).to_be_visible()
            page.get_by_role("link", name="Expectations").click()
            expect(page.get_by_text("becomes an expectation with “Expect this”")).to_be_visible()
            expect(page.locator(".gap")).to_contain_text(f"{HOTEL}“A hotel may cost 140 euros a night.” travel.md")
        with visiting(browser, one.url, viewport=PHONE) as page:
            ask(page, DOGS)
            page.get_by_role("button", name="Expect this").click()
            expect(page.get_by_text("Expected from now on: a refusal.")).to_be_visible()
            shot(page, "expect-phone")
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert [(one.question, one.expected.is_refusal) for one in read(knowledge)] == [(HOTEL, False), (DOGS, True)]
    assert not Job(knowledge, home, "default", handbook, "corrective", {}).run().failed


def test_the_certificate_stands_below_its_answer_and_a_void_one_is_a_note(browser: Browser, handbook: Path) -> None:
    home = handbook.parent / "home"
    with running(home) as one, visiting(browser, one.url) as page:
        for question in (HOTEL, DAYS):
            ask(page, question)
            page.get_by_role("button", name="This is right").first.click()
            expect(page.get_by_text("`thresher ci record` expects this answer").first).to_be_visible()
        with thresher.open(home) as collection:
            for question in (HOTEL, DAYS):
                collection.feedback(collection.ask(question), right=True)
            assert isinstance(collection.certify(0.5, confidence=0.6), Certificate)
        page.reload()
        ask(page, HOTEL)
        expect(page.locator(".certified")).to_contain_text("at most 50 % of all answers are wrong")
        shot(page, "certified")
        assert violations(page) == []
        with thresher.open(home) as collection:
            collection.add_text("Dogs are not allowed.", source="note:dogs")
        ask(page, DOGS)
        void = "Note for administrators: the certificate is void, because the documents changed"
        expect(page.locator(".certified").first).to_have_text(void)
        expect(page.get_by_role("alert")).to_have_count(0)
        shot(page, "void")
        assert violations(page) == []
