"""The files of the page as they are sent."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from tests.servers.own import Running
from thresher_server.routes.page import MEDIA_TYPES

PAGE = Path(str(files("thresher_server") / "page"))
OURS = {
    path.relative_to(PAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in PAGE.rglob("*")
    if path.is_file() and "vendor" not in path.parts
}


def test_the_page_is_sent_to_anybody_and_checked_for_a_new_version_each_time(served: Running) -> None:
    first = served.client.get("/")
    assert (first.status_code, first.text) == (200, OURS["index.html"])
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"
    again = served.client.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert served.client.head("/").status_code == 200


def test_every_file_is_sent_as_what_it_is_and_comes_out_as_it_lies_in_the_package(served: Running) -> None:
    assert {"index.html", "viewer.html", "style.css", "js/main.js"} <= set(OURS)
    for path, text in OURS.items():
        got = served.client.get(f"/page/{path}")
        assert got.headers["content-type"] == MEDIA_TYPES[Path(path).suffix]
        assert got.text == text
    worker = served.client.get("/page/vendor/pdf.worker.min.mjs")
    assert worker.headers["content-type"] == MEDIA_TYPES[".mjs"]
    assert worker.headers["content-encoding"] == "gzip"
    bare = served.client.get("/page/vendor/pdf.worker.min.mjs", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in bare.headers
    assert bare.content == worker.content


@pytest.mark.parametrize("path", ["js/nothing.js", "../app.py", "%2e%2e/app.py", "js", ""])
def test_nothing_but_files_of_the_page_is_sent(served: Running, path: str) -> None:
    assert served.client.get(f"/page/{path}").status_code == 404


def test_an_address_of_a_place_leads_to_the_viewer_whatever_it_names(served: Running) -> None:
    assert served.client.get("/d/default/1f6c0a?start=0&end=9").text == OURS["viewer.html"]


def test_the_page_needs_no_looser_policy_and_asks_nobody_else_for_anything() -> None:
    for path, text in OURS.items():
        if path.endswith(".html"):
            assert not re.search(r"<style|style=|<script(?![^>]*\bsrc=)|\son\w+=", text), path
        if path.startswith("js/"):
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b|new Function", text), path
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        assert hosts <= {"www.w3.org"}, path  # the name of a kind of drawing, which nobody fetches


def test_what_is_vendored_is_small_and_has_its_licence() -> None:
    assert sum(path.stat().st_size for path in (PAGE / "vendor").glob("*.*js")) < 2_000_000
    assert "Apache License" in (PAGE / "vendor" / "LICENSE-pdfjs").read_text(encoding="utf-8")
