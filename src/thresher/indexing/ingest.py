"""Files into a collection: unchanged ones are skipped, changed ones replaced, broken ones reported."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from thresher.errors import DocumentError
from thresher.indexing.catalog import Changes, SourceRef, contents
from thresher.indexing.index_config import IndexConfig, encode
from thresher.indexing.prepare import Ahead, Incoming, Prepared, Workers
from thresher.indexing.store import BATCH_CHUNKS, CHUNK_CHARACTERS, DocumentStore
from thresher.protocols import Progress
from thresher.types import Document, Metadata

if TYPE_CHECKING:
    from thresher.indexing.index_config import Encoded
    from thresher.types import Vectors


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark about a source that was read, now or before, and what to do about it."""

    source: str
    remark: str
    next: str


@dataclass(slots=True)
class Report:
    """What an `index` did; `to_dict` is the JSON of the public contract."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    removed: int = 0
    failed: list[DocumentError] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    """Files that vanished and were kept; formulas that have no value."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Files of a folder that are no documents, as pictures, by what they are."""
    chunks: int = 0
    seconds: float = 0.0

    def count(self, changes: Changes) -> None:
        """Add what a batch changed."""
        for name in ("added", "updated", "unchanged", "duplicates", "removed"):
            setattr(self, name, getattr(self, name) + getattr(changes, name))

    def to_dict(self) -> dict[str, Any]:
        """JSON form of the public contract."""
        failed = [{"source": e.subject, "error": e.what, "next": e.next_step} for e in self.failed]
        return {**asdict(replace(self, failed=[])), "failed": failed}


GONE = "the file is gone, its text is still in the collection", "index the folder with --prune to forget it"
OLD = "the collection still has its text of the last reading", "mend the file and index it again, or delete the source"
LOOK = "look them up in the file; they are not searched"
CHECK = "look at its letters; if they are wrong, save it as UTF-8"
COMPUTE = "open it in a program that computes them, save it and index it again"
SCANNED = "install tesseract and index it with --reread, or run OCR on the file first"


def _remarks(document: Document) -> Iterator[tuple[str, str]]:
    """What was not read of a document, or not as it is written, and what to do about it."""
    found = document.metadata
    pages = f"of {len(document.pages)} page{'s' * (len(document.pages) != 1)}"
    if count := found.get("pages_without_text"):
        has, was = ("has", "was") if count == 1 else ("have", "were")
        which = _which(found, "which_pages_without_text")
        yield f"{count} {pages}{which} {has} no text and {was} not read", SCANNED
    if count := found.get("pages_by_ocr"):
        which = _which(found, "which_pages_by_ocr")
        yield f"the text of {count} {pages}{which} was read by OCR", "compare names and numbers with the page"
    if count := found.get("formulas_without_value"):
        yield f"{count} formula{'s' * (count != 1)} without a value ({found['first_formulas_without_value']})", COMPUTE
    if count := found.get("words_not_read"):
        yield f"{count} of {found['words_in_file']} words were not read ({found['not_read']})", LOOK
    if parts := found.get("parts_not_read"):
        yield f"parts of it were not read ({parts})", LOOK
    if encoding := found.get("encoding"):
        yield f"it is not UTF-8 and was read as {encoding}", CHECK
    if count := found.get("characters_replaced"):
        yield f"{count} characters are not in the encoding that it states", CHECK
    if count := found.get("hidden_words"):
        yield f"{count} hidden words were read", "set reading.hidden=false to leave out what a program does not show"


def _which(found: Metadata, name: str) -> str:
    """The numbers of pages behind their count; documents that were read before there were any have none."""
    return f" ({found[name]})" if name in found else ""


class Ingest:
    """One `add`: gathers documents into batches and commits each to all tables; what was committed stays."""

    def __init__(
        self,
        store: DocumentStore,
        configs: Sequence[IndexConfig],
        *,
        progress: Progress | None = None,
        begun: Progress | None = None,
        batch_chunks: int = BATCH_CHUNKS,
        workers: Workers | None = None,
    ) -> None:
        """`progress` counts encoded chunks, `begun` is told how many a batch has before.

        `workers` read and encode ahead, else files are read one by one here.
        """
        self._report = Report()
        self._changed = False
        self._reread = False
        self._store = store
        self._configs = configs
        self._progress, self._begun = progress, begun
        self._workers = workers
        self._batch_characters = batch_chunks * CHUNK_CHARACTERS
        self._version = store.version
        self._catalog = store.catalog()
        self._files = store.files()
        self._met: set[str] = set()
        self._pending: list[tuple[Document, Encoded]] = []
        self._characters = 0
        self._read: list[dict[str, Any]] = []
        for config in configs:
            store.create_tables(config)

    def run(
        self,
        incoming: Iterable[Incoming | DocumentError],
        *,
        vanished: Callable[[SourceRef], bool] | None = None,
        prune: bool = False,
        reread: bool = False,
    ) -> Report:
        """Take in files, with `reread` unchanged ones too; report what `vanished`, or remove it with `prune`."""
        self._reread = reread
        if self._workers is not None:
            incoming = Ahead(self._workers, self._passes_by, lambda: self._catalog)(incoming)
        for item in incoming:
            if isinstance(item, DocumentError):
                self._report.failed.append(item)
            else:
                self._take(item)
        self._flush()
        if vanished is not None:
            self._part_with(vanished, prune=prune)
        for config in self._configs:
            self._report.chunks += self._store.complete(config)
        # Stale without a change: a run before this one was cut short after its last commit.
        if (
            self._changed
            or self._store.bloated
            or any(self._store.open(row["name"]).stale() for row in self._store.known_tables())
        ):
            self._store.maintain()
        return self._report

    def _take(self, item: Incoming) -> None:
        self._met.add(item.source)
        if self._passes_by(item):
            self._report.unchanged += self._files[item.source]["documents"]
            return
        held: dict[SourceRef, str] = {}
        failures = len(self._report.failed)
        try:
            for prepared in item.prepared():
                self._collect(prepared, held)
        except DocumentError as error:
            self._report.failed.append(error)
        if len(self._report.failed) > failures:
            if self._catalog.places_in(item.source):
                self._report.remarks.append(Remark(item.source, *OLD))
            return  # Not recorded as read: it is tried again, and reported again, next time.
        gone = [place for place in self._catalog.places_in(item.source) if place not in held]
        if gone:
            # Before the file is recorded as read: a kill in between would keep the vanished rows for good.
            self._flush()
            self._remove(gone)
        given = {name: getattr(item, name) for name in ("source", "sha256", "root", "given", "extraction")}
        self._read.append({**given, "documents": len(held), "contents": contents(held)})

    def _passes_by(self, item: Incoming) -> bool:
        """Whether a file is known and unchanged, and not all are to be read again."""
        known = None if self._reread else self._files.get(item.source)
        return known is not None and (known["sha256"], known["given"]) == (item.sha256, item.given)

    def _collect(self, prepared: Prepared, held: dict[SourceRef, str]) -> None:
        """Put the next documents of a file into the batch, and their places into `held`."""
        if self._progress is not None and prepared.chunks:
            self._progress(prepared.chunks)
        for document in prepared.found:
            if isinstance(document, DocumentError):
                self._report.failed.append(document)
                continue
            place = SourceRef(document.source, document.container)
            if place in held:
                what = "this id occurs twice in the corpus; the first row was kept"
                subject = f"{place.container}#{place.source}"
                self._report.failed.append(DocumentError(what, subject=subject, next_step="give each row its own id"))
                continue
            held[place] = document.id
            self._report.remarks += (Remark(document.source, *remark) for remark in _remarks(document))
            self._pending.append((document, prepared.encoded.get(document.id, {})))
            self._characters += len(document.text)
            if self._characters >= self._batch_characters:
                self._flush()

    def _flush(self) -> None:
        """Encode what came without its chunks, and commit what is pending."""
        if not (self._pending or self._read):
            return
        pending, self._pending, self._characters = self._pending, [], 0
        documents = [document for document, _ in pending]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        fresh: dict[str, tuple[Document, Encoded]] = {}
        for document, came in pending:
            if not self._catalog.holds(document):
                fresh.setdefault(document.id, (document, came))  # of copies, the first one's title is the document's
        known: defaultdict[str, dict[str, Vectors]] = defaultdict(dict)  # by encoder
        encoded = [self._encoded(config, list(fresh.values()), known[config.encoder.name]) for config in self._configs]
        with self._store.locked():
            self._refresh()
            changes = self._catalog.put(documents)
            self._store.apply(changes, self._catalog, now)
            self._version = self._store.version
            new = set(changes.new)
            for config, chunks in zip(self._configs, encoded, strict=True):
                self._report.chunks += self._store.append(config, chunks, new)
            if self._read:
                self._store.record_files(self._read, self._catalog)
                self._read = []
        self._report.count(changes)
        _log.info("committed %d new and %d changed documents", changes.added, changes.updated)
        self._changed = self._changed or not changes.empty
        if self._store.bloated:  # A long run makes some versions with every batch.
            self._store.maintain()

    def _encoded(
        self, config: IndexConfig, fresh: Sequence[tuple[Document, Encoded]], known: dict[str, Vectors]
    ) -> Encoded:
        """The chunks of new documents in their order, those that came encoded and the others."""
        without = [document for document, came in fresh if config.fingerprint not in came]
        made = encode(config, without, known, self._progress, self._begun)
        return {document.id: came.get(config.fingerprint) or made.get(document.id, ()) for document, came in fresh}

    def _part_with(self, vanished: Callable[[SourceRef], bool], *, prune: bool) -> None:
        """Remove what vanished, or report that it is still there; a moved file only loses its old place."""
        self._refresh()
        unmet = {place.file: place for place in self._catalog.places() if place.file not in self._met}
        files = sorted(file for file, place in unmet.items() if vanished(place))
        if files and prune:
            gone = set(files)
            self._remove([place for place in self._catalog.places() if place.file in gone], files=files)
            return
        moved = [place for file in files for place in self._moved(file)]
        left = {place.file for file in files for place in self._catalog.places_in(file)} - {one.file for one in moved}
        if moved:
            self._remove(moved, files=[file for file in files if file not in left])
        self._report.remarks += [Remark(file, *GONE) for file in sorted(left)]

    def _moved(self, file: str) -> list[SourceRef]:
        """The places of a file, if each of its documents was met in another file."""
        entries = self._catalog.entries_in(file)
        if not all(any(place.file in self._met for place in entry.places) for entry in entries):
            return []
        return [place for entry in entries for place in entry.places if place.file == file]

    def _remove(self, places: Sequence[SourceRef], *, files: Iterable[str] = ()) -> None:
        self._report.count(self._store.remove(places, files=files))
        self._changed = True

    def _refresh(self) -> None:
        """Read the catalog again if it changed on disk."""
        version = self._store.version
        if version != self._version:
            self._version = version
            self._catalog = self._store.catalog()
