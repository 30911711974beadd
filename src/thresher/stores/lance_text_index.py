"""The text index of a chunk table in segments, of which only those are built anew that changed.

Lance scores all segments with the same statistics, to the last bit as one index. A segment counts deleted rows too: the
metadata of the column hold how many rows it was built from, and where fewer are left, it is built anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.stores.lance_upkeep import newest

NAME = "terms_idx"
COLUMN = "terms"

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
class Piece:
    """Neighbouring files of a table that a segment covers, or is to cover."""

    files: tuple[int, ...]
    rows: int
    wanted: bool
    """Whether a segment has to be built for them: there is none, or it counts rows that are gone."""

    def joins(self, later: Piece, most: int) -> bool:
        """Whether one segment is better built for both: so a row is indexed again log2(`most` / batch) times."""
        small = self.rows + later.rows <= most
        return small and later.wanted and (self.wanted or self.rows <= later.rows)

    def joined(self, later: Piece) -> Piece:
        """Both, to be built as one."""
        return Piece(self.files + later.files, self.rows + later.rows, wanted=True)


def to_build(pieces: Sequence[Piece], most: int = SEGMENT_ROWS) -> list[Piece]:
    """The segments to build for a table whose pieces are these, in the order of its files."""
    settled: list[Piece] = []
    for piece in pieces:
        last = piece
        while settled and settled[-1].joins(last, most):
            last = settled.pop().joined(last)
        settled.append(last)
    return [piece for piece in settled if piece.wanted]


def parted(piece: Piece, rows: Mapping[int, int], most: int) -> list[list[int]]:
    """The files of a piece in as many segments as it takes: one of an earlier version may have covered the table."""
    parts: list[list[int]] = []
    held = most
    for file in piece.files:
        if held + rows[file] > most:
            parts.append([])
            held = 0
        parts[-1].append(file)
        held += rows[file]
    return parts


def is_sound(table: Any, index: Any) -> bool:
    """Whether the index counts the rows that are there and no others; `index` is lancedb's report of it."""
    if not index.num_indexed_rows:
        return True
    built = _built_from(table)
    return bool(len(built) == index.num_segments and sum(built.values()) == index.num_indexed_rows)


def bring_up(table: Any, most: int = SEGMENT_ROWS) -> None:
    """Build the segments that are missing or count deleted rows; each is in use as soon as it is built."""
    dataset = newest(table)
    built = _built_from(table)
    rows = {part.fragment_id: int(part.count_rows()) for part in dataset.get_fragments()}
    for piece in to_build(_pieces(dataset, rows, built), most):
        # Of the version that the rows were counted in: what is deleted meanwhile makes the new segment unsound.
        parts = parted(piece, rows, most)
        segments = [
            dataset.create_index_uncommitted(
                COLUMN, "INVERTED", name=NAME, replace=True, fragment_ids=files, **ANALYZER
            )
            for files in parts
        ]
        dataset.commit_existing_index_segments(NAME, COLUMN, segments)
        for segment, files in zip(segments, parts, strict=True):
            built[str(segment.uuid)] = sum(rows[file] for file in files)
        _remember(table, built)
    there = {segment for segment, _ in _segments(newest(table))}
    if built.keys() - there:
        _remember(table, {segment: rows for segment, rows in built.items() if segment in there})


def _pieces(dataset: Any, rows: Mapping[int, int], built: Mapping[str, int]) -> list[Piece]:
    covered: dict[int, Piece] = {}
    for segment, files in _segments(dataset):
        held = tuple(sorted(files & rows.keys()))
        total = sum(rows[file] for file in held)
        covered |= dict.fromkeys(held, Piece(held, total, wanted=built.get(segment) != total))
    every = (covered.get(file) or Piece((file,), rows[file], wanted=True) for file in sorted(rows))
    return list(dict.fromkeys(every))


def _segments(dataset: Any) -> list[tuple[str, set[int]]]:
    """Each segment of the index that covers anything: its id and its files."""
    found = [index for index in dataset.describe_indices() if index.name == NAME]
    return [(str(one.uuid), set(one.fragment_ids)) for index in found for one in index.segments if one.fragment_ids]


def _built_from(table: Any) -> dict[str, int]:
    metadata = table.schema.field(COLUMN).metadata or {}
    return dict(json.loads(metadata.get(BUILT_FROM.encode(), b"{}")))


def _remember(table: Any, built: Mapping[str, int]) -> None:
    table.update_field_metadata({"path": COLUMN, "metadata": {BUILT_FROM: json.dumps(built)}})
