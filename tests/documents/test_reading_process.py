"""Files that end whatever reads them end a process of their own, and are one line of the report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.documents import hostile, making, readers
from tests.documents.making import read_all, save
from thresher.documents.reading_process import ReadingProcess
from thresher.documents.registry import FileKind
from thresher.documents.sources import Item, Limits, fetch
from thresher.documents.worker import BadFrame, unpacked
from thresher.errors import DocumentError
from thresher.types import Document

NARROW = Limits(memory_megabytes=256, stack_megabytes=1)
Registering = Callable[[FileKind], None]


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    with ReadingProcess(NARROW) as reading:
        yield reading


def read(process: ReadingProcess, item: Item) -> list[Document | DocumentError]:
    return list(process.read(item, *fetch(item), metadata={"shelf": 3}))


def told(process: ReadingProcess, item: Item) -> dict[str, object]:
    (document,) = read(process, item)
    assert isinstance(document, Document)
    return dict(document.metadata)


def refused(process: ReadingProcess, item: Item) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        read(process, item)
    assert caught.value.subject == item.source
    assert "\n" not in str(caught.value)
    return caught.value


CORPUS = "\n".join(json.dumps({"_id": f"r{n}", "text": f"Row {n} says ü."}) for n in range(3)) + "\n{broken\n"
SOUND = {
    "a.pdf": making.pdf(["Words of a page."], title="Words"),
    "a.docx": making.word(),
    "a.pptx": making.slides(),
    "a.eml": making.mail(),
    "a.csv": b"name,mass\nboule,1.5\n",
    "a.jsonl": CORPUS.encode(),
}


def test_a_file_is_read_over_there_as_it_is_here(process: ReadingProcess, tmp_path: Path) -> None:
    for name, data in SOUND.items():
        item = save(tmp_path, name, data)
        here, there = read_all(item, metadata={"shelf": 3}), read(process, item)
        assert [str(one) if isinstance(one, DocumentError) else one for one in there] == [
            str(one) if isinstance(one, DocumentError) else one for one in here
        ]


def test_a_file_that_cannot_be_read_is_refused_over_there_in_the_same_words(
    process: ReadingProcess, tmp_path: Path
) -> None:
    for name, data in {"a.pdf": SOUND["a.pdf"][:400], "b.txt": b"\xff\xfe\xff", "c.docx": b"words"}.items():
        item = save(tmp_path, name, data)
        assert str(refused(process, item)) == str(making.refusal(tmp_path, name, data))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "words"),
    [
        ("dive", "reading.stack_megabytes (1)"),
        ("devour", "reading.memory_megabytes (256)"),
        ("leave", "it ended the reading process (exit status 7: and the last words)"),
    ],
)
def test_a_file_that_ends_its_process_is_an_error_that_names_the_setting_or_the_last_words(
    reader: str, words: str, process: ReadingProcess, registering: Registering, tmp_path: Path
) -> None:
    registering(FileKind("bad", "bad", (".bad",), ("x/bad",), f"tests.documents.readers:{reader}"))
    assert words in str(refused(process, save(tmp_path, "a.bad", "words")))
    assert read(process, save(tmp_path, "a.txt", "Sound words."))


@pytest.mark.parametrize(
    ("name", "make", "what"),
    [
        ("a.epub", hostile.nested_book, "nested too deeply"),
        ("a.pptx", hostile.nested_slides, "nested too deeply"),
        ("a.docx", hostile.wide_cell, "no text"),
        ("a.xlsx", hostile.diagonal, "empty ones included"),
        ("a.docx", hostile.entities, "declares entities"),
    ],
)
def test_a_hostile_file_is_refused_before_it_can_end_its_process(
    name: str, make: Callable[[], bytes], what: str, process: ReadingProcess, tmp_path: Path
) -> None:
    assert read(process, save(tmp_path, "a.txt", "Sound words."))
    before = process.pid
    assert what in refused(process, save(tmp_path, name, make())).what
    assert process.pid == before


def test_a_limit_that_cannot_be_is_refused_and_one_in_a_file_counts(
    run: Run, registering: Registering, tmp_path: Path
) -> None:
    registering(FileKind("bad", "bad", (".bad",), ("x/bad",), "tests.documents.readers:dive"))
    item, home = save(tmp_path, "b.bad", "words"), tmp_path / "home"
    ran = run("index", item.source, "--recipe", "rag", "--home", home, "--set", "reading.stack_megabytes=0")
    assert ran.code == 2
    assert "setting reading.stack_megabytes" in ran.error
    home.mkdir(exist_ok=True)
    (home / "thresher.toml").write_text("[reading]\nstack_megabytes = 2\n", encoding="utf-8")
    ran = run("index", item.source, "--recipe", "rag", "--home", home)
    assert ran.code == 1
    assert "raise the setting reading.stack_megabytes (2)" in ran.err


def test_a_killed_process_is_started_again(process: ReadingProcess, tmp_path: Path) -> None:
    item = save(tmp_path, "a.txt", "Words.")
    read(process, item)
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert read(process, item)
    assert process.pid != first


def test_a_reader_that_hangs_is_ended_when_its_seconds_are_over(registering: Registering, tmp_path: Path) -> None:
    registering(FileKind("hang", "a trap", (".hang",), (), "tests.documents.readers:hang"))
    with ReadingProcess(Limits(seconds=1.5)) as process:
        refusal = refused(process, save(tmp_path, "a.hang", os.devnull))
        assert refusal.what == "reading it took longer than 1.5 seconds"
        assert "reading.seconds (1.5)" in refusal.next_step
        assert process.pid is None


def test_a_function_of_the_program_reads_here(
    process: ReadingProcess, registering: Registering, tmp_path: Path
) -> None:
    registering(FileKind("who", "a question", (".who",), (), readers.tell))
    assert told(process, save(tmp_path, "a.who", "?"))["process"] == os.getpid()
    assert read(process, save(tmp_path, "a.txt", "Sound words."))
    assert process.pid is not None
    assert "old Office format" in str(refused(process, save(tmp_path, "a.doc", bytes.fromhex("d0cf11e0a1b11ae1"))))


def test_a_module_that_registers_its_kind_when_it_is_imported_reads_it(
    process: ReadingProcess, registering: Registering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = """
from tests.documents.readers import tell as read
from thresher.documents.registry import FileKind, register
register(FileKind("own", "its own", (".own",), (), "registers_itself:read"))
"""
    save(tmp_path, "registers_itself.py", module)
    monkeypatch.syspath_prepend(tmp_path)
    import_module("registers_itself")
    assert told(process, save(tmp_path, "a.own", "?"))["process"] == process.pid


@pytest.mark.parametrize("ending", ["raise SystemExit", "raise ValueError", "del read"])
def test_a_reader_whose_module_fails_over_there_is_an_error_of_its_files_alone(
    ending: str,
    process: ReadingProcess,
    registering: Registering,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"fails_{ending[-9:].strip().replace(' ', '_').lower()}"
    save(tmp_path, f"{name}.py", f"def read(file):\n    pass\n{ending}\n")
    monkeypatch.syspath_prepend(tmp_path)
    registering(FileKind("who", "a question", (".who",), (), f"{name}:read"))
    refused(process, save(tmp_path, "a.who", "?"))
    assert read(process, save(tmp_path, "a.txt", "Sound words."))


def test_one_process_reads_all_sound_files_and_is_told_no_secret(
    process: ReadingProcess, registering: Registering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_LLM__API_KEY", "sesame")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:sesame@proxy")
    registering(FileKind("who", "a question", (".who",), (), "tests.documents.readers:tell"))
    first, second = (told(process, save(tmp_path, name, "?")) for name in ("a.who", "b.who"))
    assert first["process"] == second["process"] == process.pid != os.getpid()
    assert "PATH" in str(first["environment"])
    assert "sesame" not in str(first["environment"])


PARENT = """
import signal
import sys
from pathlib import Path
from thresher.documents.reading_process import ReadingProcess
from thresher.documents.registry import FileKind, register
from thresher.documents.sources import Hints, Item
register(FileKind("hang", "a trap", (".hang",), (), "tests.documents.readers:hang"))
item = Item("a.hang", "", Path("a.hang"))
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
with ReadingProcess() as process:
    list(process.read(item, sys.argv[1].encode(), Hints()))
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_is_left_when_who_asked_is_ended(ending: signal.Signals, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(pipe)], cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL
    )
    with pipe.open("rb") as hanging:  # opened when the reader has it open, at its end when the reader is gone
        parent.send_signal(ending)
        parent.wait()
        assert hanging.read() == b""


# --- what comes back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"found": 1}',
        b'{"found": [{"id": 1}]}',
        b'{"done": "yes"}',
        b'{"found": [{"what": "a", "subject": "b"}]}',
        b"\x80\x04\x95",
    ],
)
def test_what_is_no_reply_is_refused(content: bytes) -> None:
    with pytest.raises(BadFrame):
        unpacked(content)
