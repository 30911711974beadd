"""Markdown and plain text: kept as they are written, with front matter, headings and pipe tables understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, clean_text, decode, iso_date, join_broken_words, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.text.marks import struck
from thresher.types import Mark, Metadata, Table

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
# Possessive throughout: dashes and blanks that could be given back would be tried in every combination.
SEPARATOR = re.compile(r"[ \t]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+")
EMPHASIS = re.compile(r"[*_`]{1,3}(\S.{0,200}?\S|\S)[*_`]{1,3}")
STRUCK = re.compile(r"~~(?=\S)((?:(?!~~).){1,2000})(?<=\S)~~")
FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
COMMENT = re.compile(r"[ \t]{0,3}<!--(?:(?!-->).)*-->[ \t]*")
FURTHEST = 200  # lines that a line may be away from the one before: front matter and blank lines lie between
SAME_START = 20  # characters by which a line is known whose last word was made whole
DATE_FIELDS = ("date", "published", "created", "updated")


def read_text(file: RawFile) -> Parsed:
    """A plain text file: lines stay lines, words broken at line ends are made whole."""
    written, notes = decode(file.data)
    text = join_broken_words(clean_text(written))
    return Parsed(text, marks=tuple(line_marks(written, text)), metadata=notes)


def read_markdown(file: RawFile) -> Parsed:
    """A Markdown file without its front matter, which becomes metadata, and without lines that are comments."""
    written, notes = decode(file.data)
    fields, body = split_front_matter(clean_text(written))
    body = without_comments(body)
    body = with_struck_sentences(body)
    marks = [*line_marks(written, body), *(Mark(start, "heading", name) for start, name in headings(body))]
    return Parsed(
        body,
        tables=tuple(pipe_tables(body)),
        marks=tuple(sorted(marks, key=lambda mark: mark.start)),
        title=str(fields.get("title", "")),
        heading=next((name for _, name in headings(body)), ""),
        date=stated_date(fields),
        metadata={**{name: value for name, value in fields.items() if name not in ("title", "date")}, **notes},
    )


def without_comments(text: str) -> str:
    """The text without the lines outside code that hold nothing but an HTML comment, which no reader sees."""
    comments = {start for start, line in _outside_code(text) if COMMENT.fullmatch(line)}
    kept: list[str] = []
    offset, gone = 0, False
    for line in text.split("\n"):
        blank = not line.strip() and not (kept and kept[-1].strip())
        if offset in comments:
            gone = True
        elif not (gone and blank):  # of the blank lines around a comment one is left
            kept.append(line)
            gone = False
        offset += len(line) + 1
    return "\n".join(kept)


def with_struck_sentences(text: str) -> str:
    """The text, outside code, with each struck sentence marked by itself."""
    lines = {start: STRUCK.sub(lambda found: struck(found[1]), line) for start, line in _outside_code(text)}
    offset, kept = 0, list[str]()
    for line in text.split("\n"):
        kept.append(lines.get(offset, line))
        offset += len(line) + 1
    return "\n".join(kept)


def stated_date(fields: Mapping[str, Any]) -> str | None:
    """The first of the date fields that holds a date."""
    return next((date for name in DATE_FIELDS if (date := iso_date(str(fields.get(name, ""))))), None)


def split_front_matter(text: str) -> tuple[Metadata, str]:
    """The `key: value` fields between `---` lines at the top, and the text after them.

    Scalars only: numbers, true and false, strings with or without quotes; a list becomes one string.
    """
    front = FRONT_MATTER.match(text)
    if front is None:
        return {}, text
    fields: dict[str, str | int | float | bool] = {}
    lists: dict[str, list[str]] = {}
    name = ""
    for line in front[1].split("\n"):
        stated, colon, value = line.rstrip().partition(":")
        if colon and re.fullmatch(r"[A-Za-z_][\w .-]*", stated.rstrip(" \t")) and value[:1] in ("", " ", "\t"):
            name = stated.rstrip()
            if value:
                fields[name] = scalar(value)
        elif name and line.strip().startswith("- "):
            lists.setdefault(name, []).append(str(scalar(line.strip()[2:])))
        elif line.strip() and not line.lstrip().startswith("#") and not line.startswith((" ", "\t")):
            return {}, text  # a rule and some text, not fields
    fields.update({name: ", ".join(values) for name, values in lists.items()})
    return fields, text[front.end() :].lstrip("\n")


def scalar(value: str) -> str | int | float | bool:
    """A YAML scalar as YAML means it, without the surprises (`no` stays a word)."""
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    value = re.sub(r"(?<!\s)\s+#.*$", "", value)
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if re.fullmatch(r"[+-]?(?:0|[1-9]\d{0,17})", value):
        return int(value)
    if re.fullmatch(r"[+-]?\d{1,17}\.\d{1,17}", value):
        return float(value)
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(str(scalar(part)) for part in value[1:-1].split(",") if part.strip())
    return value


def headings(text: str) -> Iterator[tuple[int, str]]:
    """The headings outside code without their marks, and where they begin."""
    before = (0, "")
    for start, line in _outside_code(text):
        if marks := re.match(r"#{1,6}[ \t]+", line):
            yield start, EMPHASIS.sub(r"\1", line[marks.end() :].rstrip("#").rstrip(" \t"))
        if before[1] and re.fullmatch(r"={3,}[ \t]*", line):
            yield before
        before = (start, line.strip())


def line_marks(written: str, text: str) -> Iterator[Mark]:
    """Which line of the file the lines of its cleaned text are, wherever one is not the next of the one before.

    Blank lines, front matter and the rest of a broken word are gone from the text, so each line is looked for in the
    file from where the last was found; one that was changed in another way counts on.
    """
    lines = [line.strip() for line in normalise(written).split("\n")]
    at, offset, counted = -1, 0, 0
    for line in text.split("\n"):
        if wanted := line.strip():
            near = range(at + 1, min(len(lines), at + 1 + FURTHEST))
            at = next((n for n in near if _same_line(lines[n], wanted)), at + 1)
            if at + 1 != counted:
                yield Mark(offset, "line", str(at + 1))
                counted = at + 1
        counted += 1
        offset += len(line) + 1


def _same_line(written: str, wanted: str) -> bool:
    """Whether a line is that of the file, perhaps without a word at its beginning or with another at its end."""
    return bool(written) and (written.endswith(wanted) or written[:SAME_START] == wanted[:SAME_START])


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
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            yield offset, line
        offset += len(line) + 1


# --- subtitles (srt, webvtt) ------------------------------------------------------------------------------------------


_TIME = r"((?:\d+:)?\d\d:\d\d)[.,](\d{3})"
CUE = re.compile(rf"[ \t]*{_TIME}[ \t]+-->[ \t]+{_TIME}[^\n]*\n((?:[^\n]*\S[^\n]*(?:\n|\Z))*)", re.MULTILINE)
VOICE = re.compile(r"<v(?:\.[^\s>]{0,40})?\s([^>\n]{1,80})>")
TAG = re.compile(r"</?[A-Za-z\d.:][^>]{0,80}>|\{\\[^}]{0,80}\}")
PAUSE = 3.0  # seconds without words that end a paragraph
PARAGRAPH_CHARACTERS = 600


def read_subtitles(file: RawFile) -> Parsed:
    """The spoken text; a paragraph ends at a pause, with a speaker, or with a sentence where it has grown long."""
    text, notes = decode(file.data)
    assembly = Assembly()
    words, speaker, ended = "", "", 0.0
    cues: list[tuple[int, str]] = []

    def close() -> None:
        nonlocal words
        for start, time in cues:
            assembly.mark("path", time, ahead=start)
        assembly.paragraph(words)
        cues.clear()
        words = ""

    for cue in CUE.finditer(normalise(text)):
        begins, ends = (_seconds(*cue.group(at, at + 1)) for at in (1, 3))
        voice = VOICE.search(cue[5])
        spoken = clean_inline(unescape(TAG.sub("", VOICE.sub("", cue[5]))))
        voice_name = clean_inline(voice[1]) if voice else ""
        long = len(words) > PARAGRAPH_CHARACTERS and re.search(r"[.!?…]\W*$", words)
        if words and (begins - ended > PAUSE or voice_name not in ("", speaker) or long):
            close()
        if spoken:
            spoken = spoken if words or not voice_name else f"{voice_name}: {spoken}"
            cues.append((len(words) + bool(words), cue[1]))
            words = f"{words} {spoken}" if words else spoken
        speaker, ended = voice_name or speaker, ends
    close()
    if not assembly:
        raise DocumentError("it has no cues", next_step="check that it is a subtitle file, or rename it to .txt")
    return assembly.parsed(metadata=notes)


def _seconds(clock: str, thousandths: str) -> float:
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + int(part)
    return seconds + int(thousandths) / 1000
