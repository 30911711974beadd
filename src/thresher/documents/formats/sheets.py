"""What the XML of a workbook says that its cells' values do not: where a sheet begins, and formulas without a value."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from xml.etree import ElementTree

from thresher.documents.formats.archives import open_archive, relations, xml_of
from thresher.documents.sources import MEBIBYTE
from thresher.structure.locators import column_number

MAX_SHEET_BYTES = 64 * MEBIBYTE  # of XML; a larger sheet has no cell names, since reading it twice takes minutes
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The corner of the filled cells of a sheet, columns and rows from 1, and the formulas that have no value."""

    column: int
    row: int
    uncomputed: tuple[str, ...]


def sheets_of(data: bytes) -> dict[str, Sheet]:
    """The sheets by name; one that is empty, too large or not as the standard has it is left out."""
    found: dict[str, Sheet] = {}
    try:
        with open_archive(data) as archive:
            parts = {identifier: target for identifier, _, target in relations(archive, "xl/workbook.xml")}
            for entry in xml_of(archive, "xl/workbook.xml").iter():
                if entry.tag.endswith("}sheet"):
                    part = next(parts[value] for name, value in entry.items() if name.endswith("}id"))
                    if archive.getinfo(part).file_size <= MAX_SHEET_BYTES and (sheet := _sheet(archive, part)):
                        found[entry.get("name", "")] = sheet
    except (LookupError, StopIteration, ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError):
        pass  # the sheets so far; what can be read of the others, the extractor knows
    return found


def _sheet(archive: zipfile.ZipFile, part: str) -> Sheet | None:
    columns, rows, uncomputed = [], [], []
    with archive.open(part) as file:
        for _, element in ElementTree.iterparse(file):
            tag = element.tag.rpartition("}")[2]
            if tag == "row":
                element.clear()
            if tag != "c" or not (reference := _REFERENCE.fullmatch(element.get("r", ""))):
                continue
            held = {child.tag.rpartition("}")[2]: "".join(child.itertext()) for child in element}
            if held.get("v") or held.get("is"):
                columns.append(column_number(reference[1]))
                rows.append(int(reference[2]))
            elif "f" in held:
                uncomputed.append(reference[0])
    return Sheet(min(columns), min(rows), tuple(uncomputed)) if columns else None
