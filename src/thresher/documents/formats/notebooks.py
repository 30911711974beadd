"""Jupyter notebooks: the text and code of the cells in their order, and what they printed; no pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_text
from thresher.documents.encodings import utf_8
from thresher.documents.formats.markdown import headings, pipe_tables
from thresher.documents.formats.tabular import load
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError

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
