"""A batch is encoded in another thread, beside what is read and committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.indexing.making import SMALL, ReadingEncoder, document, ingest, prose, sha, sources
from thresher.deadline import watch
from thresher.errors import Cancelled
from thresher.indexing.prepare import Incoming
from thresher.indexing.store import DocumentStore
from thresher.types import Document

LONG = 30  # seconds that nothing here comes near


def incoming(source: str, meanwhile: Callable[[], Any] = lambda: None) -> Incoming:
    """A file; `meanwhile` is called when it is read."""

    def read() -> Iterator[Document]:
        meanwhile()
        yield document(source, prose(source))

    return Incoming(source, sha(source), "", read)


def test_a_batch_is_encoded_while_the_next_file_is_read(tmp_path: Path) -> None:
    read, waited = Event(), list[bool]()

    class Waiting(ReadingEncoder):
        def encode(self, texts: Any, *, progress: Any = None) -> Any:
            waited.append(read.wait(LONG))
            return super().encode(texts, progress=progress)

    store = DocumentStore(tmp_path)
    ingest(store, [incoming("a"), incoming("b", read.set)], replace(SMALL, encoder=Waiting()), batch_chunks=0)
    assert all(waited)
    assert sources(store) == ["a", "b"]


def test_a_run_that_is_interrupted_does_not_encode_to_the_end_of_a_batch(tmp_path: Path) -> None:
    began, ended = Event(), list[type]()

    class Endless(ReadingEncoder):
        def encode(self, texts: Any, *, progress: Any = None) -> Any:
            allow = watch()
            began.set()
            try:
                for _ in range(100 * LONG):
                    allow()
                    Event().wait(0.01)
            except Cancelled as error:
                ended.append(type(error))
                raise

    def interrupt() -> None:
        assert began.wait(LONG)
        raise KeyboardInterrupt

    files = [incoming("a"), incoming("b", interrupt)]
    with pytest.raises(KeyboardInterrupt):
        ingest(DocumentStore(tmp_path), files, replace(SMALL, encoder=Endless()), batch_chunks=0)
    assert ended == [Cancelled]


def test_an_error_of_the_encoder_ends_the_run(tmp_path: Path) -> None:
    class Broken(ReadingEncoder):
        def encode(self, texts: Any, *, progress: Any = None) -> Any:
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        ingest(DocumentStore(tmp_path), [incoming("a"), incoming("b")], replace(SMALL, encoder=Broken()))


def test_progress_is_told_in_the_thread_of_the_caller_chunk_by_chunk(tmp_path: Path) -> None:
    from threading import get_ident

    told: list[tuple[int, int]] = []
    report = ingest(
        DocumentStore(tmp_path),
        [incoming("a"), incoming("b")],
        progress=lambda count: told.append((get_ident(), count)),
        batch_chunks=0,
    )
    assert {thread for thread, _ in told} == {get_ident()}
    assert sum(count for _, count in told) == report.chunks
