"""Upkeep of a growing Lance table: indexes brought up, files joined, old versions dropped.

lancedb's `optimize` writes most files anew, and a text index is built of all rows, however few came: .4 s of processor
time at 30,000 rows, 6.9 s at 300,000. So lancedb keeps up a table of one file. A larger one grows by increments through
pylance, which is the whole Lance that lancedb has inside: the extra `large`.

Others may add or delete rows meanwhile; where a deletion meets files that are being joined, the joining gives way. Two
upkeeps of one table must not run at the same time.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from thresher.errors import MissingExtra, StoreError

_log = logging.getLogger(__name__)

LANCE_INSIDE = {"0.40": "13.0.0"}
"""The Lance that each lancedb is built with: indexes that another one builds are invisible to it."""

MOST_SEGMENTS = 8
"""Parts of an index from which they are joined; joining takes .3 s at a million rows, and each part is asked."""

DELETED_SHARE = 0.1
"""A file is written anew, without its deleted rows, when they are more than this share of it (Lance's default)."""

QUIET = "error"
"""Lance's warnings on standard error help no user (an empty partition); LANCE_LOG or LANCEDB_LOG shows them."""

HALF_WRITTEN = ".tmp*"
"""What Lance calls a file until all of it is there; its own clean-up passes them by."""


def check_versions(lancedb: str, pylance: str) -> None:
    """Raise StoreError where pylance is not the Lance inside lancedb."""
    inside = LANCE_INSIDE.get(".".join(lancedb.split(".")[:2]))
    if pylance != inside:
        known = "; ".join(f"lancedb {theirs} goes with pylance {ours}" for theirs, ours in LANCE_INSIDE.items())
        raise StoreError(
            f"pylance {pylance} is not the Lance inside lancedb {lancedb}, and cannot see the indexes that one builds",
            subject="the store on LanceDB",
            next_step=f"install a pair that belongs together ({known})",
        )


def newest(table: Any) -> Any:
    """The newest version of a lancedb table in pylance.

    Raises MissingExtra without pylance, StoreError where the two do not belong together.
    """
    os.environ.setdefault("LANCE_LOG", QUIET)
    import lancedb

    try:
        import lance
    except ModuleNotFoundError as error:
        absent = MissingExtra("pylance", extra="large")
        absent.subject = f"the upkeep of {table.name}, which has {table.count_rows():,} rows"
        raise absent from error

    check_versions(lancedb.__version__, lance.__version__)
    return lance.dataset(table.uri, storage_options=table.initial_storage_options() or None)


def bring_up(table: Any, names: Iterable[str]) -> None:
    """Add to indexes what came since, as a part of its own, and join the parts of those that have many."""
    wanted = {index.name: index for index in table.list_indices() if index.name in set(names)}
    behind = [name for name, index in wanted.items() if index.num_unindexed_rows]
    if behind:
        newest(table).optimize.optimize_indices(num_indices_to_merge=0, index_names=behind)
    crowded = [name for name, index in wanted.items() if (index.num_segments or 0) >= MOST_SEGMENTS]
    if crowded:
        newest(table).optimize.optimize_indices(num_indices_to_merge=2 * MOST_SEGMENTS, index_names=crowded)


def join_files(table: Any, *, rows: int, every_deletion: bool = False) -> None:
    """Join neighbouring files that the same index segments cover to about `rows` rows, without many deleted rows.

    With `every_deletion` no deleted row is left in a file.
    """
    share = 0.0 if every_deletion else DELETED_SHARE
    try:
        newest(table).optimize.compact_files(
            target_rows_per_fragment=rows, materialize_deletions=True, materialize_deletions_threshold=share
        )
    except OSError as error:
        _give_way(table, error, may=not every_deletion)


def _give_way(table: Any, error: Exception, *, may: bool) -> None:
    """Raise the error unless another change came first, in Lance's words, and the files may be joined another time."""
    if not may or "Retryable commit conflict" not in str(error):
        raise error
    _log.info("%s: files are not joined this time, rows are being deleted", table.name)


def drop_versions_before(table: Any, older_than: timedelta, *, unfinished: bool = False) -> None:
    """Drop older versions and their files; `unfinished` also drops files of killed processes: nobody may write then."""
    newest(table).cleanup_old_versions(older_than=older_than, delete_unverified=unfinished)
    if unfinished:
        _drop_half_written(table)


def _drop_half_written(table: Any) -> None:
    if "://" not in table.uri:
        for file in Path(table.uri).rglob(HALF_WRITTEN):
            file.unlink(missing_ok=True)


# --- a table of one file, by lancedb alone ----------------------------------------------------------------------------


def rewrite(table: Any, column: str) -> None:
    """Write every row anew, so that no file has a deleted one; `column` is any text column."""
    table.update(where="true", values_sql={column: column})


def tidy(table: Any, older_than: timedelta, *, unfinished: bool = False) -> None:
    """Join all files, bring indexes by value and of vectors up, drop versions as `drop_versions_before` does."""
    with warnings.catch_warnings():  # of readers of older versions: they begin again
        warnings.filterwarnings("ignore", r"optimize\(cleanup_older_than=0\)", UserWarning)
        try:
            table.optimize(cleanup_older_than=older_than, delete_unverified=unfinished)
        except RuntimeError as error:
            _give_way(table, error, may=not unfinished)
    if unfinished:
        _drop_half_written(table)


def _remember(table: Any, column: str, key: str, value: str) -> None:
    """Keep a value with a column of a table."""
    table.update_field_metadata({"path": column, "metadata": {key: value}})


def _remembered(table: Any, column: str, key: str) -> str | None:
    value = (table.schema.field(column).metadata or {}).get(key.encode())
    return None if value is None else value.decode()


# --- the text index of a chunk table ----------------------------------------------------------------------------------
#
# It is kept in segments, of which only those are built anew that changed. Lance scores all segments with the same
# statistics, to the last bit as one index. A segment counts deleted rows too: the metadata of the column hold how many
# rows it was built from, and where fewer are left, it is built anew.

TEXT_INDEX, TERMS = "terms_idx", "terms"

SEGMENT_ROWS = 32_768
"""Rows of a segment at most, and of a file: building one takes about a second, which is what a deletion costs at any
size of the table; a search of many segments takes no longer than that of one (benchmarks/growth.py)."""

BUILT_FROM = "thresher.segments"
"""Metadata of the column: how many rows each segment was built from, as JSON."""

# The terms are made by our own analyzer; Lance only splits them at the spaces again.
ANALYZER: Mapping[str, Any] = {
    "base_tokenizer": "whitespace",
    "stem": False,
    "remove_stop_words": False,
    "lower_case": False,
    "ascii_folding": False,
    "max_token_length": None,
    "with_position": False,
}


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring files of a table that a segment covers, or is to cover."""

    files: tuple[int, ...]
    rows: int
    wanted: bool
    """Whether a segment has to be built for them: there is none, or it counts rows that are gone."""


def to_build(pieces: Sequence[Segment], most: int = SEGMENT_ROWS) -> list[Segment]:
    """The segments to build for a table whose pieces are these, in the order of its files.

    A piece to be built takes in those before it that are not larger: a row is indexed log2(`most` / batch) times.
    """
    settled: list[Segment] = []
    for piece in pieces:
        last = piece
        while settled and last.wanted and settled[-1].rows + last.rows <= most:
            before = settled[-1]
            if not before.wanted and before.rows > last.rows:
                break
            settled.pop()
            last = Segment(before.files + last.files, before.rows + last.rows, wanted=True)
        settled.append(last)
    return [piece for piece in settled if piece.wanted]


def is_text_index_sound(table: Any, index: Any) -> bool:
    """Whether the index counts the rows that are there and no others; `index` is lancedb's report of it."""
    if not index.num_indexed_rows:
        return True
    built = _built_from(table)
    return bool(len(built) == index.num_segments and sum(built.values()) == index.num_indexed_rows)


def build_text_index(table: Any) -> None:
    """Build it anew in one segment, unless it counts the rows that are there and no others."""
    from lancedb.index import FTS

    before = text_index_of(table)
    if before is not None and not before.num_unindexed_rows and is_text_index_sound(table, before):
        return
    rows = int(table.count_rows())  # before it is built: what is deleted meanwhile makes it unsound
    table.create_index(TERMS, config=FTS(**ANALYZER), replace=True)
    if (built := text_index_of(table)) is not None:
        _remember(table, TERMS, BUILT_FROM, json.dumps({str(built.index_uuid): rows}))


def text_index_of(table: Any) -> Any | None:
    """What lancedb says of the text index; None where there is none."""
    return next((index for index in table.list_indices() if index.name == TEXT_INDEX), None)


def bring_up_text_index(table: Any, most: int = SEGMENT_ROWS) -> None:
    """Build the segments that are missing or count deleted rows; each is in use as soon as it is built."""
    dataset = newest(table)
    built = _built_from(table)
    rows = {part.fragment_id: int(part.count_rows()) for part in dataset.get_fragments()}
    for piece in to_build(_pieces(dataset, rows, built), most):
        # Of the version that the rows were counted in: what is deleted meanwhile makes the new segment unsound.
        segment = dataset.create_index_uncommitted(
            TERMS, "INVERTED", name=TEXT_INDEX, replace=True, fragment_ids=list(piece.files), **ANALYZER
        )
        dataset.commit_existing_index_segments(TEXT_INDEX, TERMS, [segment])
        built[str(segment.uuid)] = piece.rows
        _remember(table, TERMS, BUILT_FROM, json.dumps(built))
    there = {segment for segment, _ in _segments(newest(table))}
    if built.keys() - there:
        left = {segment: number for segment, number in built.items() if segment in there}
        _remember(table, TERMS, BUILT_FROM, json.dumps(left))


def _pieces(dataset: Any, rows: Mapping[int, int], built: Mapping[str, int]) -> list[Segment]:
    covered: dict[int, Segment] = {}
    for segment, files in _segments(dataset):
        held = tuple(sorted(files & rows.keys()))
        total = sum(rows[file] for file in held)
        covered |= dict.fromkeys(held, Segment(held, total, wanted=built.get(segment) != total))
    every = (covered.get(file) or Segment((file,), rows[file], wanted=True) for file in sorted(rows))
    return list(dict.fromkeys(every))


def _segments(dataset: Any) -> list[tuple[str, set[int]]]:
    """Each segment of the index that covers anything: its id and its files."""
    found = [index for index in dataset.describe_indices() if index.name == TEXT_INDEX]
    return [(str(one.uuid), set(one.fragment_ids)) for index in found for one in index.segments if one.fragment_ids]


def _built_from(table: Any) -> dict[str, int]:
    return dict(json.loads(_remembered(table, TERMS, BUILT_FROM) or "{}"))


# --- the vector index of a large chunk table --------------------------------------------------------------------------
#
# IVF with RaBitQ codes (Gao and others 2024, extended to several bits), the best compared exactly: a million vectors of
# 384 dimensions are 192 MB.

VECTOR_INDEX, VECTOR = "vector_idx", "vector"

BITS = 4
"""Of a dimension. With one bit 400 candidates have to be read to hold the ten nearest, which takes longer than finding
them; with four 100 do (docs/decisions.md)."""

PROBES = 64
"""Partitions that are looked in, of about 4,096 rows each: of 244, 32 found 96.8 % of the ten nearest where rows are
near to each other (benchmarks/growth.py); 64 take 1.5 ms more."""

CANDIDATES = 100
"""The best by their codes that are compared exactly, and at least `REFINED` times as many as are asked for."""

REFINED = 2

TRAINED_ON = "thresher.trained_rows"
"""Metadata of the column: how many rows the partitions were made for."""

OUTGROWN = 4
"""A table that has grown so many times gets new partitions: a search of them takes as many times as long."""


def by_vector_index(query: Any, limit: int, *, filtered: bool) -> Any:
    """A query of lancedb as it is put to the index; with a filter more partitions are looked in until enough pass."""
    query = query.refine_factor(max(REFINED, -(-CANDIDATES // limit)))
    return query.minimum_nprobes(PROBES).maximum_nprobes(0) if filtered else query.nprobes(PROBES)


def wants_vector_index(table: Any, index: Any | None, ann_rows: int) -> bool:
    """Whether one has to be built: none or another kind is there, or it was made for a much smaller table."""
    rows = int(table.count_rows())
    if rows < ann_rows:
        return False
    trained = int(_remembered(table, VECTOR, TRAINED_ON) or 0)
    return index is None or index.index_type != "IvfRq" or rows >= OUTGROWN * trained


def build_vector_index(table: Any) -> None:
    """Build it from all rows; questions are answered meanwhile, by the old one or by all vectors."""
    from lancedb.index import IvfRq

    rows = int(table.count_rows())
    table.create_index(VECTOR, config=IvfRq(distance_type="dot", num_bits=BITS), replace=True)
    _remember(table, VECTOR, TRAINED_ON, str(rows))
