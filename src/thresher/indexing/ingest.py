"""Files into a collection: unchanged ones are skipped, changed ones replaced, broken ones reported."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from thresher.errors import DocumentError
from thresher.indexing.catalog import Changes, SourceRef, contents
from thresher.indexing.index_config import IndexConfig, encode
from thresher.indexing.prepare import Ahead, Incoming, Prepared, Workers
from thresher.indexing.store import BATCH_CHUNKS, CHUNK_CHARACTERS, DocumentStore
from thresher.protocols import Progress, in_silence
from thresher.types import Document, Metadata

if TYPE_CHECKING:
    from thresher.indexing.index_config import Encoded
    from thresher.types import Vectors


_log = logging.getLogger(__name__)

FILE_FIELDS = ("source", "sha256", "root", "given", "extraction", "size", "modified")
"""What is recorded of a file that was read, besides what it holds."""


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
    renamed: int = 0
    """Documents whose file lies elsewhere now, with the same text: neither duplicates nor removed."""
    reread: int = 0
    """Files that were as they were, and were read anew because an older extraction had read them."""
    failed: list[DocumentError] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    """Files that vanished and were kept, or folders of which most did; formulas that have no value."""
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
MISSED = "bring them back (is a drive not mounted?), or index the folder with --prune to forget them"
ANEW = "files that an older version of the extraction read are read anew; not with --no-reread"
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


def _same(known: Mapping[str, Any], item: Incoming) -> bool:
    """Whether a file has the bytes, and was given the metadata, that are recorded of it."""
    return bool((known["sha256"], known["given"]) == (item.sha256, item.given))


class Ingest:
    """One `add`: gathers documents into batches and commits each to all tables; what was committed stays."""

    def __init__(
        self,
        store: DocumentStore,
        configs: Sequence[IndexConfig],
        *,
        progress: Progress | None = None,
        begun: Progress | None = None,
        announce: Callable[[str], None] = in_silence,
        batch_chunks: int = BATCH_CHUNKS,
        workers: Workers | None = None,
    ) -> None:
        """`progress` counts encoded chunks, `begun` gets how many a batch has before, `announce` what takes long.

        `workers` read and encode ahead, else files are read one by one here.
        """
        self._report = Report()
        self._changed = False
        self._reread: bool | None = None
        self._store = store
        self._configs = configs
        self._progress, self._begun, self._announce = progress, begun, announce
        self._workers = workers
        self._batch_characters = batch_chunks * CHUNK_CHARACTERS
        self._version = store.version
        self._catalog = store.catalog()
        self._files = store.files()
        self._met: set[str] = set()
        self._copies: Counter[str] = Counter()
        self._pending: list[tuple[Document, Encoded]] = []
        self._characters = 0
        self._read: list[dict[str, Any]] = []
        for config in configs:
            store.create_tables(config)

    def run(
        self,
        incoming: Iterable[Incoming | DocumentError],
        *,
        vanished: Callable[[str], bool] | None = None,
        folder_of: Callable[[str], str] = lambda file: ".",
        prune: bool | None = False,
        reread: bool | None = None,
    ) -> Report:
        """Take in files; unchanged ones too with `reread`, None for those that an older extraction read.

        Of the files that were not among them and that have `vanished`, what was met in another file moves there. The
        others that a folder holds (`folder_of`, empty for none) are forgotten with `prune`, unless None and they are
        most of what is known of the folder; else they are reported.
        """
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
            self._part_with(vanished, folder_of, prune)
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
        known = self._files.get(item.source)
        if known is not None and self._passes_by(item):
            self._report.unchanged += known["documents"]
            if (known["size"], known["modified"]) != (item.size, item.modified):
                self._read.append({**known, "size": item.size, "modified": item.modified})
            return
        if known is not None and not self._reread and _same(known, item):
            if not self._report.reread:
                self._announce(ANEW)
            self._report.reread += 1
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
        given = {name: getattr(item, name) for name in FILE_FIELDS}
        self._read.append({**given, "documents": len(held), "contents": contents(held)})

    def _passes_by(self, item: Incoming) -> bool:
        """Whether a file is known and unchanged, and is not to be read again."""
        known = None if self._reread else self._files.get(item.source)
        if known is None or not _same(known, item):
            return False
        return self._reread is False or known["extraction"] == item.extraction

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
        self._copies += changes.copies
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

    def _part_with(self, vanished: Callable[[str], bool], folder_of: Callable[[str], str], prune: bool | None) -> None:
        """Move the documents of vanished files to where they were met; forget or report the others of a folder."""
        self._refresh()
        files = {place.file for place in self._catalog.places()}
        met = (entry for file in self._met for entry in self._catalog.entries_in(file))
        copied = {place.file for entry in met for place in entry.places if self._was_local(place.file)}
        gone = {one for one in files - self._met if (one in copied or folder_of(one)) and vanished(one)}
        moved = {file for file in gone if self._is_elsewhere(file)}
        self._move(sorted(moved))
        left: defaultdict[str, list[str]] = defaultdict(list)
        for file in sorted(gone - moved):
            left[folder_of(file)].append(file)
        left.pop("", None)
        for folder, lost in left.items():
            known = sum(folder_of(file) == folder for file in files - moved)
            if prune or (prune is None and 2 * len(lost) <= known):
                self._remove([place for file in lost for place in self._catalog.places_in(file)], files=lost)
            elif prune is None:
                what = f"{len(lost)} of the {known} files that were indexed are gone, and nothing was forgotten"
                self._report.remarks.append(Remark(folder, what, MISSED))
            else:
                self._report.remarks += [Remark(file, *GONE) for file in lost]

    def _was_local(self, file: str) -> bool:
        return self._files.get(file, {}).get("size") is not None

    def _is_elsewhere(self, file: str) -> bool:
        """Whether each document of a file was met in another file."""
        entries = self._catalog.entries_in(file)
        return all(any(place.file in self._met for place in entry.places) for entry in entries)

    def _move(self, files: Sequence[str]) -> None:
        """Drop the places in vanished files; what got another place in this run counts as renamed."""
        for file in files:
            for entry in self._catalog.entries_in(file):
                renamed = min(self._copies[entry.id], sum(place.file == file for place in entry.places))
                self._copies[entry.id] -= renamed
                self._report.renamed += renamed
        if files:
            self._remove([place for file in files for place in self._catalog.places_in(file)], files=files)
        self._report.duplicates -= self._report.renamed
        self._report.removed -= self._report.renamed

    def _remove(self, places: Sequence[SourceRef], *, files: Iterable[str] = ()) -> None:
        self._report.count(self._store.remove(places, files=files))
        self._changed = True

    def _refresh(self) -> None:
        """Read the catalog again if it changed on disk."""
        version = self._store.version
        if version != self._version:
            self._version = version
            self._catalog = self._store.catalog()
