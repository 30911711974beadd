"""The files of the page as they are sent."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from tests.server.conftest import Running
from thresher_server.routes.page import MEDIA_TYPES, static_files

PAGE = files("thresher_server") / "page"


def test_the_page_is_sent_to_anybody_and_checked_for_a_new_version_each_time(served: Running) -> None:
    first = served.client.get("/")
    assert first.status_code == 200
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"
    again = served.client.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert served.client.head("/").status_code == 200


def test_every_file_is_sent_as_what_it_is_and_comes_out_as_it_lies_in_the_package(served: Running) -> None:
    assert {"index.html", "viewer.html", "style.css", "js/main.js", "vendor/pdf.worker.min.mjs"} <= set(static_files())
    for path, file in static_files().items():
        got = served.client.get(f"/page/{path}")
        assert got.headers["content-type"] == MEDIA_TYPES[path.rpartition(".")[2]]
        assert got.content == file.content
    assert served.client.get("/page/js/main.js").headers["content-encoding"] == "gzip"
    assert "content-encoding" not in served.client.get("/", headers={"Accept-Encoding": "identity"}).headers


@pytest.mark.parametrize("path", ["js/nothing.js", "../app.py", "%2e%2e/app.py", "vendor/LICENSE-pdfjs", "js", ""])
def test_nothing_but_files_of_the_page_is_sent(served: Running, path: str) -> None:
    assert served.client.get(f"/page/{path}").status_code == 404


def test_an_address_of_a_place_leads_to_the_viewer_whatever_it_names(served: Running) -> None:
    got = served.client.get("/d/default/1f6c0a", params={"start": "0", "end": "9"})
    assert got.text == static_files()["viewer.html"].content.decode()


def test_the_page_needs_no_looser_policy_than_it_is_sent_with() -> None:
    for path, file in static_files().items():
        text = file.content.decode()
        if path.endswith(".html"):
            assert not re.search(r"<style|style=|<script(?![^>]*\bsrc=)|\son\w+=", text), path
        if path.startswith("js/"):
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b|new Function", text), path


def test_the_page_asks_nobody_else_for_anything() -> None:
    for path, file in static_files().items():
        if not path.startswith("vendor/"):
            hosts = set(re.findall(r"https?://([\w.-]+)", file.content.decode()))
            assert hosts <= {"www.w3.org"}, path  # the name of a kind of drawing, which nobody fetches


def test_what_is_vendored_is_small_and_has_its_licence() -> None:
    vendored = [file for path, file in static_files().items() if path.startswith("vendor/")]
    assert sum(len(file.content) for file in vendored) < 2_000_000
    assert "Apache License" in (PAGE / "vendor" / "LICENSE-pdfjs").read_text(encoding="utf-8")
