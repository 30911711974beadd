from __future__ import annotations

import base64
import hashlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.documents.making import read_one
from tests.documents.test_read_broken_inputs import as_nobody
from thresher.documents.sources import NOT_THERE, Item, Limits, discover, fetch
from thresher.errors import DocumentError
from thresher_testing.llm_server import Reply, ScriptedServer


@pytest.fixture
def barn(tmp_path: Path) -> Path:
    root = tmp_path / "barn"
    for name in ("b.txt", "a.md", "sub/c.txt", "sub/deep/d.pdf", ".hidden/x.txt", ".env", ".thresher/t.txt", "p.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def names(root: Path, **globs: Sequence[object]) -> list[str]:
    found = list(discover([str(root)], **globs))  # type: ignore[arg-type]
    assert all(isinstance(item, Item) for item in found)
    return [Path(item.source).relative_to(root).as_posix() for item in found]


def test_a_folder_is_walked_in_sorted_order_without_hidden_files(barn: Path) -> None:
    assert names(barn) == ["a.md", "b.txt", "p.png", "sub/c.txt", "sub/deep/d.pdf"]


def test_globs_match_the_bare_name_and_the_path_in_the_folder(barn: Path) -> None:
    assert names(barn, include=["*.txt"]) == ["b.txt", "sub/c.txt"]
    assert names(barn, include=["sub/*"]) == ["sub/c.txt", "sub/deep/d.pdf"]
    assert names(barn, exclude=["sub", "*.png"]) == ["a.md", "b.txt"]
    assert names(barn, include=["*.txt"], exclude=["sub/*"]) == ["b.txt"]


def test_sources_are_absolute_and_know_their_root(barn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(barn)
    (item,) = discover(["sub/../b.txt"])
    assert isinstance(item, Item)
    assert item.source == item.root == (barn / "b.txt").as_posix()
    assert [found.root for found in discover(["sub"]) if isinstance(found, Item)] == [(barn / "sub").as_posix()] * 2


def test_an_input_that_is_named_twice_comes_once_and_one_that_is_missing_is_a_failure(barn: Path) -> None:
    missing, *found = discover([str(barn / "no.txt"), str(barn / "b.txt"), str(barn), str(barn)])
    assert str(missing) == f"{barn / 'no.txt'}: no such file or folder; {NOT_THERE}"
    assert len(found) == 5


def test_links_in_a_circle_end(barn: Path) -> None:
    (barn / "sub" / "up").symlink_to(barn)
    (barn / "dangling").symlink_to(barn / "nothing")
    assert names(barn).count("sub/c.txt") == 1
    assert "dangling" in names(barn)


def test_folders_to_skip_are_skipped_under_any_name_but_not_when_named_outright(barn: Path) -> None:
    (barn / "link").symlink_to(barn / "sub" / "deep")
    skip = [barn / "sub", barn / "nothing"]
    assert names(barn, skip=skip) == ["a.md", "b.txt", "p.png", "link/d.pdf"]
    assert names(barn, skip=[barn / "link"]) == ["a.md", "b.txt", "p.png", "sub/c.txt"]
    assert [Path(item.source).name for item in discover([str(barn / "sub")], skip=skip)] == ["c.txt", "d.pdf"]  # type: ignore[union-attr]


def test_a_name_that_is_not_utf8_is_a_failure_that_can_be_printed(barn: Path) -> None:
    os.mkdir(os.path.join(os.fsencode(barn), b"f\xfc"))
    for name in (b"caf\xe9.txt", b"f\xfc/a.txt"):
        with open(os.path.join(os.fsencode(barn), name), "wb") as file:
            file.write(b"words")
    found = list(discover([str(barn)]))
    failures = [item for item in found if isinstance(item, DocumentError)]
    assert len(found) == 5 + len(failures)
    assert [failure.subject for failure in failures] == [rf"{barn}/caf\udce9.txt", rf"{barn}/f\udcfc/a.txt"]
    assert {(failure.what, failure.next_step) for failure in failures} == {("its name is not valid UTF-8", "rename it")}


@pytest.mark.parametrize("argument", ["", "a\0b", "x" * 5000, "~nobody-of-this-name/x", "\ud800", "http://\ud800/"])
def test_what_is_no_path_is_a_failure(argument: str) -> None:
    (failure,) = discover([argument])
    assert isinstance(failure, DocumentError)
    assert str(failure).encode()  # it can be printed


def test_a_folder_that_may_not_be_opened_is_a_failure(barn: Path) -> None:
    (barn / "sub").chmod(0)
    barn.chmod(0o755)
    for parent in barn.parents:
        if parent.owner() == barn.owner() and len(parent.parts) > 2:
            parent.chmod(parent.stat().st_mode | 0o055)
    with as_nobody():
        found = list(discover([str(barn)]))
    (barn / "sub").chmod(0o755)
    assert [item.what for item in found if isinstance(item, DocumentError)] == [
        "folder cannot be opened (permission denied)"
    ]
    assert sum(isinstance(item, Item) for item in found) == 3


def test_urls_and_standard_input_are_inputs() -> None:
    url, stdin = discover(["https://example.org/a.pdf", "-"], stdin=io.BytesIO(b"words"))
    assert isinstance(url, Item)
    assert (url.source, url.path, url.data) == ("https://example.org/a.pdf", None, None)
    assert isinstance(stdin, Item)
    assert stdin.source == "stdin:" + hashlib.sha256(b"words").hexdigest()[:12]
    assert stdin.data == b"words"


def test_a_link_out_of_a_folder_is_reported_and_not_followed(barn: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("secret")
    (barn / "out").symlink_to(tmp_path / "secret")
    (barn / "key.txt").symlink_to(tmp_path / "secret" / "key.txt")
    (barn / "in.txt").symlink_to(next(path for path in barn.rglob("*.txt") if not path.is_symlink()))
    found = list(discover([str(barn)]))
    refused = {Path(one.subject).name for one in found if isinstance(one, DocumentError)}
    assert refused == {"out", "key.txt"}
    assert "in.txt" in {Path(one.source).name for one in found if not isinstance(one, DocumentError)}


# --- what lies behind an address (redirects, packed bodies and time are those of `thresher.net`) -----------------


def at(url: str) -> Item:
    return Item(source=url, root=url)


@pytest.fixture
def site(serve: Callable[..., ScriptedServer]) -> ScriptedServer:
    pages = {
        "/page": Reply("<p>Oats.", headers={"Content-Type": "text/html"}),
        "/hop": Reply(status=302, headers={"Location": "/page"}),
        "/inner": Reply(status=302, headers={"Location": "http://10.0.0.1/"}),
        "/fake.pdf": Reply("<html>Log in", headers={"Content-Type": "application/pdf"}),
        "/secret": Reply("Rye.", status=401),
        "/big": "x" * 50_000,
        "/slow": Reply("x", seconds=5),
        "/cut": Reply("short", headers={"Content-Length": "1000"}),
    }
    return serve(pages=pages | {f"http://docs.example{path}": page for path, page in pages.items()})


def test_a_page_is_fetched_with_what_the_server_says(site: ScriptedServer) -> None:
    data, hints = fetch(at(f"{site.address}/hop"))
    assert (data, hints.content_type, hints.url) == (b"<p>Oats.", "text/html", f"{site.address}/page")
    document = read_one(at(f"{site.address}/page"))
    assert (document.kind, document.text, document.source) == ("html", "Oats.", f"{site.address}/page")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/nothing", "the server answered 404"),
        ("/secret", "the server answered 401"),
        ("/big", "larger than 20,000 bytes"),
        ("/cut", "cannot be reached"),
        ("/slow", "no complete answer in time"),
        ("/fake.pdf", "says it is a PDF but sent text"),
    ],
)
def test_a_reply_that_cannot_be_used_is_refused(site: ScriptedServer, path: str, what: str) -> None:
    with pytest.raises(DocumentError, match=what) as caught:
        read_one(at(site.address + path), limits=Limits(max_bytes=20_000, timeout_seconds=0.5))
    assert caught.value.subject == site.address + path
    assert caught.value.next_step


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://", "http://[broken", "http://127.0.0.1:99999999/"])
def test_an_address_that_leads_nowhere_is_refused(url: str) -> None:
    with pytest.raises(DocumentError):
        fetch(at(url), limits=Limits(timeout_seconds=2))


def test_a_name_and_password_in_the_address_are_used_and_no_source_shows_them(site: ScriptedServer) -> None:
    (item,) = discover([site.address.replace("://", "://ann:p%40ss@") + "/page"])
    assert isinstance(item, Item)
    assert (item.source, item.root) == (f"{site.address}/page", f"{site.address}/page")
    fetch(item)
    sent = site.requests[-1].headers["authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"ann:p@ss"


def test_the_proxy_of_the_environment_is_used(site: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", site.host)  # with or without its scheme, as other programs
    data, hints = fetch(at("http://docs.example/hop"))
    assert (data, hints.url) == (b"<p>Oats.", "http://docs.example/page")
    with pytest.raises(DocumentError, match="not on the public internet"):
        fetch(at("http://docs.example/inner"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pytest.raises(DocumentError, match="cannot be reached"):
        fetch(at("http://docs.example/page"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert fetch(at(f"{site.address}/page"))[0] == b"<p>Oats."
