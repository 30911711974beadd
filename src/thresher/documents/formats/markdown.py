"""Markdown and plain text: kept as they are written, with front matter, headings and pipe tables understood."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thresher.documents.assembly import Parsed
from thresher.documents.cleaning import clean_text, iso_date, join_broken_words
from thresher.documents.detect import decode
from thresher.types import Metadata, Table

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
FIELD = re.compile(r"([A-Za-z_][\w .-]*?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
DATE_FIELDS = ("date", "published", "created", "updated")


def read_text(data: bytes) -> Parsed:
    """A plain text file: lines stay lines, words broken at line ends are made whole."""
    return Parsed(kind="text", text=join_broken_words(clean_text(decode(data))))


def read_markdown(data: bytes) -> Parsed:
    """A Markdown file without its front matter, which becomes metadata."""
    fields, body = split_front_matter(clean_text(decode(data)))
    date = next((found for name in DATE_FIELDS if name in fields and (found := iso_date(str(fields[name])))), None)
    heading = first_heading(body)
    title = str(fields.get("title", ""))
    metadata = {name: value for name, value in fields.items() if name not in ("title", "date")}
    return Parsed(
        kind="markdown",
        text=body,
        tables=tuple(pipe_tables(body)),
        title=title,
        heading=heading,
        date=date,
        metadata=metadata,
    )


def split_front_matter(text: str) -> tuple[Metadata, str]:
    """The `key: value` fields between `---` lines at the top, and the text after them.

    Scalars only: numbers, true and false, strings with or without quotes; a list becomes one string.
    """
    found = FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    fields: dict[str, str | int | float | bool] = {}
    lists: dict[str, list[str]] = {}
    name = ""
    for line in found[1].split("\n"):
        field = FIELD.fullmatch(line.rstrip())
        if field and not line.startswith((" ", "\t")):
            name = field[1]
            if field[2]:
                fields[name] = scalar(field[2])
        elif name and line.strip().startswith("- "):
            lists.setdefault(name, []).append(str(scalar(line.strip()[2:])))
        elif line.strip() and not line.lstrip().startswith("#") and not line.startswith((" ", "\t")):
            return {}, text  # a rule and some text, not fields
    fields.update({name: ", ".join(values) for name, values in lists.items()})
    return fields, text[found.end() :].lstrip("\n")


def scalar(value: str) -> str | int | float | bool:
    """A YAML scalar as YAML means it, without the surprises (`no` stays a word)."""
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    value = re.sub(r"\s+#.*$", "", value)
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if re.fullmatch(r"[+-]?(?:0|[1-9]\d{0,17})", value):
        return int(value)
    if re.fullmatch(r"[+-]?\d{1,17}\.\d{1,17}", value):
        return float(value)
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(str(scalar(part)) for part in value[1:-1].split(",") if part.strip())
    return value


def first_heading(text: str) -> str:
    """The first heading outside code, without its marks."""
    before = ""
    for _, line in _outside_code(text):
        found = re.fullmatch(r"#{1,6}[ \t]+(.*?)[ \t]*#*", line)
        if found:
            return re.sub(r"[*_`]{1,3}(\S.*?\S|\S)[*_`]{1,3}", r"\1", found[1])
        if before and re.fullmatch(r"={3,}[ \t]*", line):
            return before
        before = line.strip()
    return ""


def pipe_tables(text: str) -> Iterator[Table]:
    """The pipe tables outside code: a header, a line of dashes (no row), rows."""
    lines = list(_outside_code(text))
    index = 0
    while index + 1 < len(lines):
        (start, header), (_, separator) = lines[index], lines[index + 1]
        if "|" not in header or "|" not in separator or not SEPARATOR.fullmatch(separator):
            index += 1
            continue
        rows = [(start, start + len(header))]
        index += 2
        while index < len(lines) and "|" in lines[index][1]:
            offset, line = lines[index]
            rows.append((offset, offset + len(line)))
            index += 1
        yield Table(rows[0][0], rows[-1][1], tuple(rows))


def _outside_code(text: str) -> Iterator[tuple[int, str]]:
    offset, fence = 0, ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            yield offset, line
        offset += len(line) + 1
