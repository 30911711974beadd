"""Documents over HTTP: sent, listed, opened, forgotten and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import thresher
from tests.indexing.making import bytes_holding
from tests.servers.own import DOCUMENTS, Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION, added, documents, ended, sent, with_key
from thresher_server.security.keys import Scope
from thresher_testing.llm_server import ScriptedServer


def test_documents_are_listed_with_addresses(served: Running) -> None:
    told = served.client.get(f"{DEFAULT}/documents").json()
    assert told["total"] == 4
    assert sorted(Path(one["source"]).name for one in told["documents"]) == sorted(DOCUMENTS)
    first = told["documents"][0]
    assert first["url"] == f"{served.url}/d/default/{first['id']}"
    assert first["file"] is True


def test_a_list_is_cut_by_words_filters_and_pages(served: Running) -> None:
    (one,) = documents(served, words="FERRY ferry.md")
    assert one["title"] == "The ferry"
    assert documents(served, where="title = 'Tides'")[0]["title"] == "Tides"
    assert documents(served, words="nothing like it") == []
    pages = [documents(served, limit=2, offset=at) for at in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 0]
    assert served.client.get(f"{DEFAULT}/documents", params={"where": "titel = 'x'"}).status_code == 422
    assert served.client.get(f"{DEFAULT}/documents", params={"where": "(" * 1900}).status_code == 422


def test_a_document_has_its_text_and_its_file(served: Running) -> None:
    (one,) = documents(served, words="ferry")
    path = f"{DEFAULT}/documents/{one['id']}"
    assert served.client.get(path).json() == one
    told = served.client.get(f"{path}/text", params={"start": 2, "end": 11}).json()
    assert told == {"text": "The ferry", "start": 2, "end": 11, "characters": one["characters"]}
    assert served.client.get(f"{path}/text", params={"start": 10**9}).json()["text"] == ""
    file = served.client.get(f"{path}/file")
    assert file.content.decode() == DOCUMENTS["ferry.md"]
    assert file.headers["content-type"] == "text/plain; charset=utf-8"
    assert file.headers["content-disposition"].startswith("inline")
    assert file.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert served.client.get(f"{path}/file", headers={"Range": "bytes=2-4"}).text == "The"


def test_what_was_deleted_before_is_forgotten_by_its_name(one: Running) -> None:
    reader = with_key(one.service.home, "reader", Scope.READ, Scope.ASK)
    path = f"{DEFAULT}/documents"
    one.client.post(f"{DEFAULT}/ask", json=QUESTION)
    (lighthouse,) = documents(one, words="lighthouse.md")
    assert one.client.delete(path, params={"source": "lighthouse.md"}).status_code == 404  # it is still there
    one.client.delete(f"{path}/{lighthouse['id']}")
    assert bytes_holding(one.service.home, b"Ada Holm")
    assert one.client.delete(path, params={"source": "lighthouse.md"}, headers=reader).status_code == 403
    told = one.client.delete(path, params={"source": "lighthouse.md"})
    assert told.json() == {"deleted": ["lighthouse.md"]}
    assert bytes_holding(one.service.home, b"Ada Holm") == []
    assert one.client.delete(path, params={"source": "lighthouse.md"}).status_code == 404
    assert len(documents(one)) == 3


@pytest.mark.parametrize("id_", ["0" * 32, "%2e%2e", "%2e%2e%2fetc", "x" * 90])
def test_a_document_that_is_not_there_is_404(served: Running, id_: str) -> None:
    for rest in ("", "/text", "/file"):
        assert served.client.get(f"{DEFAULT}/documents/{id_}{rest}").status_code == 404


def test_html_is_never_shown_as_a_page_of_ours(one: Running) -> None:
    added(one, [("page.html", b"<html><body><p>The mill has 4 sails.</p><script>alert(1)</script></body></html>")])
    (page,) = documents(one, words="page.html")
    told = one.client.get(f"{DEFAULT}/documents/{page['id']}/file")
    assert told.headers["content-type"] == "application/octet-stream"
    assert told.headers["content-disposition"].startswith("attachment")


def test_a_file_that_cannot_be_read_is_told_with_its_reason_and_not_kept(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    with running(home) as one:
        job = added(one, [("broken.pdf", b"%PDF-1.4 nonsense"), ("good.txt", b"The well is 30 metres deep.")])
        assert job["state"] == "partly"
        (failed,) = job["result"]["failed"]
        assert Path(failed["source"]).name == "broken.pdf"
        assert failed["error"]
        assert any("broken.pdf" in line for line in job["log"])
        assert added(one, [("broken.pdf", b"%PDF-1.4 nonsense")])["state"] == "failed"
    assert [file.name for file in (home / "server" / "uploads").rglob("*.*")] == ["good.txt"]


def test_a_corpus_cannot_name_a_file_of_this_machine(one: Running, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    row = {"_id": str(secret), "title": "A row", "text": "The heron nests in March."}
    assert added(one, [("corpus.jsonl", json.dumps(row).encode() + b"\n")])["state"] == "done"
    (heron,) = documents(one, words="secret.txt")
    told = one.client.get(f"{DEFAULT}/documents/{heron['id']}/file")
    assert told.status_code == 200
    assert "heron" in told.text


def test_rows_of_two_corpora_with_one_name_are_forgotten_one_by_one(one: Running) -> None:
    rows = [json.dumps({"_id": "1", "title": "", "text": f"The {bird} nests in March."}) for bird in ("heron", "gull")]
    added(one, [(f"corpus{number}.jsonl", row.encode()) for number, row in enumerate(rows)])
    first, second = (two for two in documents(one) if two["source"] == "1")
    one.client.delete(f"{DEFAULT}/documents/{first['id']}", params={"purge": True})
    assert [two["id"] for two in documents(one) if two["source"] == "1"] == [second["id"]]


def test_a_document_is_forgotten_with_its_file_and_what_quotes_it(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    with running(home) as one:
        added(one, [("bridge.md", b"The bridge of Harrow is 212 metres long.")])
        (bridge,) = documents(one, words="bridge")
        talk = one.client.post(f"{DEFAULT}/conversations").json()["id"]
        asked = {"question": "How long is the bridge of Harrow?", "conversation": talk}
        trace = one.client.post(f"{DEFAULT}/ask", json=asked).json()["trace"]
        told = one.client.delete(f"{DEFAULT}/documents/{bridge['id']}", params={"purge": True})
        assert [Path(source).name for source in told.json()["deleted"]] == ["bridge.md"]
        assert documents(one, words="bridge") == []
        assert one.client.get(f"{DEFAULT}/traces/{trace}").status_code == 404
        assert one.client.get(f"{DEFAULT}/conversations/{talk}").status_code == 404
        assert one.client.delete(f"{DEFAULT}/documents/{bridge['id']}").status_code == 404
    assert list((home / "server" / "uploads").iterdir()) == []


def test_a_document_is_read_again_with_its_metadata(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The well is 30 metres deep.")
    with thresher.open(tmp_path / "home") as collection:
        collection.add(note, metadata={"team": "water"})
    note.write_text("The well is 31 metres deep.")
    with running(tmp_path / "home") as one:
        (before,) = documents(one)
        reply = one.client.post(f"{DEFAULT}/documents/{before['id']}/reindex")
        assert reply.status_code == 202
        assert ended(one, reply.json()["job"])["result"]["updated"] == 1
        (after,) = documents(one)
        assert (after["metadata"], after["id"] == before["id"]) == ({"team": "water"}, False)
        assert one.client.post(f"{DEFAULT}/documents/{before['id']}/reindex").status_code == 404


def test_who_is_no_admin_reaches_no_address_of_the_inner_network(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    key = with_key(home, "writer", Scope.WRITE, Scope.READ)
    with ScriptedServer(pages={"/mill.txt": "inner"}) as web, running(home, server__require_key=True) as one:
        one.client.headers.update(key)
        reply = one.client.post(f"{DEFAULT}/documents", json={"urls": [f"{web.address}/mill.txt"]})
        job = ended(one, reply.json()["job"])
        assert job["state"] == "failed"
        assert "refused" in job["result"]["failed"][0]["error"]
        assert web.requests == []


@pytest.mark.parametrize(
    "urls", [[], ["file:///etc/passwd"], ["ftp://example.org/x"], [""], ["http://a b"], ["/etc/passwd"], "x", [1]]
)
def test_what_is_no_address_is_refused(served: Running, urls: object) -> None:
    assert served.client.post(f"{DEFAULT}/documents", json={"urls": urls}).status_code == 422


def test_a_form_without_files_or_with_broken_parts_is_refused(served: Running) -> None:
    empty = served.client.post(f"{DEFAULT}/documents", files={"recipe": (None, "corrective")})
    assert (empty.status_code, "no files" in empty.text) == (422, True)
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (
        b"",
        b"--x\r\n\r\n",
        b"--x\r\nContent-Disposition: form-data; name=files; filename=a\r\n\r\nabc",
        b"no",
        b'--x\r\nContent-Disposition: form-data; filename="a.txt"\r\n\r\nabc\r\n--x--\r\n',
        b"--x\r\nX-Long: " + b"a" * 20_000 + b"\r\n",
        b"--x\r\n" + b"X-Many: a\r\n" * 20,
        b"--x\r\nContent-Disposition: form-data; name=recipe\r\n\r\n" + b"a" * 70_000,
        b"--x\r\nContent-Disposition: form-data; name=recipe\r\n\r\na\r\n" * 21 + b"--x--\r\n",
    ):
        told = served.client.post(f"{DEFAULT}/documents", content=body, headers=kind)
        assert told.status_code == 422, (body, told.text)
    no_boundary = {"Content-Type": "multipart/form-data"}
    assert served.client.post(f"{DEFAULT}/documents", content=b"x", headers=no_boundary).status_code == 422
    assert served.client.post(f"{DEFAULT}/documents", json=QUESTION).status_code == 422


def test_an_upload_that_is_too_large_is_refused_and_nothing_of_it_stays(tmp_path: Path) -> None:
    with running(tmp_path, server__max_upload_megabytes=1.0, server__max_body_megabytes=1.0) as one:
        told = sent(one, [("large.txt", b"x" * 2_000_000)])
        assert told.status_code == 413
        stream = (b"x" * 65_536 for _ in range(32))  # without a length told beforehand
        head = {"Content-Type": "multipart/form-data; boundary=x"}
        start = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
        told = one.client.post(
            f"{DEFAULT}/documents", content=(piece for part in ([start], stream) for piece in part), headers=head
        )
        assert told.status_code == 413
        assert one.client.get("/api/jobs").json() == {"jobs": []}
        assert one.client.put("/process", content=b"x" * 2_000_000, headers={"X-Filename": "a.txt"}).status_code == 413
    assert not [file for file in (tmp_path / "server").rglob("*") if file.is_file() and "uploads" in file.parts]
