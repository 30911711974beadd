"""CSV, JSON, JSON Lines and BEIR corpora: records to rows of a table, to lines, or to a document each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, clean_text, decode, has_half_pair, normalise, utf_8
from thresher.documents.formats.markdown import headings, pipe_tables, stated_date
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.types import Mark

DELIMITERS = ",;\t|"
STATED_DELIMITER = re.compile(r"\s*sep=(\S|\t)\n", re.IGNORECASE)  # as Excel understands it
SAMPLE_LINES = 50  # enough to tell the delimiter
MAX_FIELD = 10 * 1024 * 1024  # characters; a larger one is an unclosed quote
TEXT_FIELDS = ("text", "content", "body")
CORRECT = "correct the line and index the file again"


# --- CSV --------------------------------------------------------------------------------------------------------------


def read_csv(file: RawFile) -> Parsed:
    """A CSV or TSV file as one table; what stands before its header or behind its rows is text."""
    text, notes = decode(file.data)
    text = normalise(text)  # with its blank lines: they count as rows
    named = STATED_DELIMITER.match(text)
    tabs = file.name.lower().endswith(".tsv")
    delimiter = named[1] if named else "\t" if tabs else guess_delimiter(clean_text(text))
    limit = csv.field_size_limit(MAX_FIELD)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise DocumentError(f"malformed CSV ({error})", next_step="check the quotes") from error
    finally:
        csv.field_size_limit(limit)
    first, last = table_of(rows)
    assembly = Assembly()
    assembly.paragraph(*(" ".join(filter(str.strip, row)) for row in rows[1 if named else 0 : first]))
    assembly.table(rows[first:last], at=range(first, last))
    assembly.paragraph(*(" ".join(filter(str.strip, row)) for row in rows[last:]))
    return assembly.parsed(metadata=notes)


def table_of(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """From the header, the first row that is filled as most are, to the last of more than one cell."""
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    widths = Counter(len(row) for row, cells in zip(rows, filled, strict=True) if cells)
    usual = max(widths, key=lambda width: (widths[width], width), default=1)
    if usual == 1:
        return 0, len(rows)
    others = [sum(map(bool, map(str.strip, row[1:]))) for row in rows]
    first = next((at for at, cells in enumerate(others) if 3 * cells >= 2 * (usual - 1)), 0)
    last = max((at for at, cells in enumerate(filled) if cells > 1), default=0) + 1
    return first, max(first, last)


def guess_delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the same number of cells, the most cells where several do."""
    sample = "\n".join(text.split("\n", SAMPLE_LINES)[:SAMPLE_LINES])

    def fitness(delimiter: str) -> tuple[float, int]:
        try:
            counts = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row]
        except csv.Error:
            return 0.0, 0
        usual = max(set(counts), key=lambda count: (counts.count(count), count)) if counts else 1
        return (counts.count(usual) / len(counts), usual) if usual > 1 else (0.0, 0)

    return max(DELIMITERS, key=fitness)


# --- JSON -------------------------------------------------------------------------------------------------------------


def read_json(file: RawFile) -> Parsed:
    """A JSON file: its text field if it has one, a table if it lists flat records, else a line for each value."""
    value = load(utf_8(file.data))
    assembly = Assembly()
    if not isinstance(value, dict):
        add_value(assembly, value)
        return assembly.parsed()
    name = next((field for field in TEXT_FIELDS if str(value.get(field) or "").strip()), None)
    if name is not None and isinstance(value[name], str):
        assembly.mark("path", path_to("$", name))
        assembly.paragraph(value.pop(name))
    else:
        add_value(assembly, value)
    fields = scalars(value)
    return assembly.parsed(
        title=str(fields.get("title") or fields.get("name") or ""),
        date=stated_date(fields),
        metadata={key: item for key, item in fields.items() if key not in ("title", "date")},
    )


def load(text: str, *, line: int | None = None) -> Any:
    """The value in the text; every way JSON can be wrong is an error that names the place."""
    where = f"line {line}: " if line else ""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if line else f"line {error.lineno}, column {error.colno}"
        raise DocumentError(
            f"{where}malformed JSON ({error.msg} at {place})", next_step="check it with: python -m json.tool"
        ) from error
    except RecursionError as error:
        raise DocumentError(f"{where}JSON nested too deeply", next_step="flatten it, or leave it out") from error
    except ValueError as error:  # an integer of thousands of digits
        raise DocumentError(f"{where}malformed JSON ({error})", next_step="check the numbers") from error


def scalars(fields: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """The fields that are one value; null is no value."""
    return {
        str(name): clean_inline(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if isinstance(value, str | int | float | bool)
    }


def add_value(assembly: Assembly, value: Any, roots: Sequence[str] = ()) -> None:
    """A list of flat records as a table, everything else as `path: value` lines, a blank line between records.

    `roots` are what the records of a list are called in the file, `$[0]` and so on where they have no other name.
    """
    tables: list[tuple[str, str, list[list[str]]]] = []
    if isinstance(value, dict):
        value = _without_tables(value, "", "$", tables)
    records = value if isinstance(value, list) else [value]
    if isinstance(value, list):
        roots = roots or [path_to("$", at) for at in range(len(value))]
        if table := as_table(value):
            assembly.table(table, name=lambda at: ("path", roots[max(0, at - 1)]))
            return
    for record, root in zip(records, roots or ["$"], strict=True):
        lines = list(lines_of(record, root=root))
        text, at = clean_text("\n".join(line for _, line in lines)), 0
        for place, line in lines:
            if (cleaned := clean_text(line)) and (found := text.find(cleaned, at)) >= 0:
                assembly.mark("path", place, ahead=found)
                at = found + len(cleaned)
        assembly.paragraph(text)
    for path, root, table in tables:
        assembly.mark("path", root)
        assembly.paragraph(path)
        assembly.table(table, name=lambda at, root=root: ("path", path_to(root, max(0, at - 1))))  # type: ignore[misc]


def _without_tables(
    value: Mapping[str, Any], path: str, root: str, found: list[tuple[str, str, list[list[str]]]]
) -> Any:
    """An object without the lists in it that are tables; those are put to `found` with their path and JSONPath."""
    left = {}
    for name, item in value.items():
        here, place = f"{path}.{name}" if path else str(name), path_to(root, str(name))
        table = as_table(item) if isinstance(item, list) else None
        if table is not None:
            found.append((here, place, table))
        elif not isinstance(item, dict):
            left[name] = item
        elif rest := _without_tables(item, here, place, found):
            left[name] = rest
    return left


def path_to(root: str, name: str | int) -> str:
    """JSONPath (RFC 9535) of a member or an item."""
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w*", name):
        return f"{root}.{name}"
    return f"{root}[{json.dumps(name, ensure_ascii=False)}]"


LEAST_SHARE = 0.5  # of the names of all records that each of a table has: with fewer most cells would be empty


def as_table(records: Sequence[Any]) -> list[list[str]] | None:
    """Header and rows of several flat records that have the same fields, or most of them; None for others."""
    if len(records) < 2 or not all(isinstance(record, dict) and record for record in records):
        return None
    names = list(dict.fromkeys(name for record in records for name in record))
    if any(len(record) < LEAST_SHARE * len(names) for record in records):
        return None
    values = (value for record in records for value in record.values())
    items = (item for value in values for item in (value if isinstance(value, list) else [value]))
    if any(isinstance(item, dict | list) for item in items):
        return None
    return [names, *([shown(record.get(name)) for name in names] for record in records)]


def lines_of(value: Any, path: str = "", *, root: str = "$") -> Iterator[tuple[str, str]]:
    """Where each value stands, and it under its path, as in `address.city: Rome`."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from lines_of(item, f"{path}.{name}" if path else str(name), root=path_to(root, str(name)))
    elif isinstance(value, list):
        if all(not isinstance(item, dict | list) for item in value):
            joined = shown(value)
            yield root, f"{path}: {joined}" if path else joined
            return
        for number, item in enumerate(value, start=1):
            here = f"{path}.{number}" if path else str(number)
            yield from lines_of(item, here, root=path_to(root, number - 1))
    elif value is not None:
        yield root, f"{path}: {shown(value)}" if path else shown(value)


def shown(value: Any) -> str:
    """A scalar as JSON writes it; a string without quotes, null as nothing, several with commas between."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- JSON Lines and BEIR ----------------------------------------------------------------------------------------------


def read_jsonl(file: RawFile) -> Parsed | Iterator[Parsed | DocumentError]:
    """A JSON Lines file: a document each line of a BEIR corpus, else one; then one bad line and it is not read."""
    if is_corpus(file.data):
        return corpus_rows(file.data)
    records = [(number, load(utf_8(line), line=number)) for number, line in numbered_lines(file.data)]
    assembly = Assembly()
    add_value(assembly, [record for _, record in records], [f"line {number}: $" for number, _ in records])
    return assembly.parsed()


def numbered_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    for number, line in enumerate(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), start=1):
        if stripped := line.strip():
            yield number, stripped


def is_corpus(data: bytes) -> bool:
    """Whether a JSON Lines file is a BEIR corpus: the first line that can be read has `_id` and `text`."""
    for number, line in numbered_lines(data):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if number > SAMPLE_LINES:
                return False
            continue
        return isinstance(record, dict) and "_id" in record and isinstance(record.get("text"), str)
    return False


def corpus_rows(data: bytes) -> Iterator[Parsed | DocumentError]:
    """The passages of a BEIR corpus, one at a time; for a bad line an error about its number, and the others go on."""
    seen: set[str] = set()
    for number, line in numbered_lines(data):
        try:
            row = replace(_passage(json.loads(line)), marks=(Mark(0, "path", f"line {number}: $.text"),))
            if row.source in seen:
                raise DocumentError(
                    f"the _id '{row.source}' was used before", next_step="give each passage its own _id"
                )
        except UnicodeDecodeError as error:
            what, next_step = f"not valid UTF-8 at byte {error.start} of the line", "save the file as UTF-8"
        except DocumentError as error:
            what, next_step = error.what, error.next_step
        except (ValueError, RecursionError):
            what, next_step = "malformed JSON", CORRECT
        else:
            seen.add(row.source)
            yield row
            continue
        yield DocumentError(what, subject=str(number), next_step=next_step)


def _passage(record: Any) -> Parsed:
    """The text exactly as it is there, since offsets of labels count in it."""
    if not isinstance(record, dict):
        raise DocumentError("not a JSON object", next_step=CORRECT)
    source, text, title = record.get("_id"), record.get("text"), record.get("title")
    if isinstance(source, bool) or not isinstance(source, str | int) or source == "":
        raise DocumentError("no _id", next_step=CORRECT)
    if not isinstance(text, str):
        raise DocumentError("no text", next_step=CORRECT)
    if not text.strip():
        raise DocumentError("the text is empty", next_step=CORRECT)
    nested = record.get("metadata")
    fields = {name: value for name, value in record.items() if name not in ("_id", "title", "text", "metadata")}
    metadata = scalars({**fields, **(nested if isinstance(nested, dict) else {})})
    title = title if isinstance(title, str) else ""
    if has_half_pair(source, text, title, *metadata):
        raise DocumentError("has half of a surrogate pair", next_step=CORRECT)
    date = stated_date(metadata) if metadata else None
    metadata.pop("date", None)
    return Parsed(text, source=str(source), kind="passage", title=title, date=date, metadata=metadata)


# --- jupyter notebooks ------------------------------------------------------------------------------------------------


PICTURE = re.compile(r"data:[\w.+/-]+;base64,[A-Za-z0-9+/=\s]+")


def read_notebook(file: RawFile) -> Parsed:
    """A notebook."""
    value = load(utf_8(file.data))
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list):
        raise DocumentError("not a Jupyter notebook: it has no cells", next_step="save it again, or rename it to .json")
    assembly, heading = Assembly(), ""
    for number, cell in enumerate((cell for cell in cells if isinstance(cell, dict)), start=1):
        text = clean_text(PICTURE.sub("", _joined(cell.get("source"))))
        assembly.mark("part", f"cell {number}")
        if cell.get("cell_type") != "markdown":
            assembly.paragraph("\n\n".join([text, *_printed(cell)]))
            continue
        for start, name in headings(text):
            heading = heading or name
            assembly.mark("heading", name, ahead=start)
        assembly.paragraph(text)
        assembly.tables_in(pipe_tables(text), text)
    return assembly.parsed(heading=heading)


def _printed(cell: Mapping[str, Any]) -> Iterator[str]:
    """What a cell of code printed or shows as text."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            data = output.get("data")
            shown = data.get("text/plain") if isinstance(data, dict) else ""
            yield _joined(output.get("text")) or _joined(shown)


def _joined(lines: Any) -> str:
    """A text of a notebook, which is one string or a list of lines."""
    return "".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list | str) else ""
