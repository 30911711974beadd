"""What a reader of a format builds on besides `documents.assembly` and `.cleaning`: archives, XML, pages, sheets."""

from __future__ import annotations

from thresher.documents.formats.archives import (
    PROGRAMS,
    TEMPLATE_MOMENTS,
    attribute,
    child,
    children,
    descendants,
    local,
    opened,
    whole,
    xml_of,
    xml_root,
)
from thresher.documents.formats.html import read_markup
from thresher.documents.formats.markdown import read_text
from thresher.documents.formats.slides import NOTES_LABEL
from thresher.documents.formats.tabular import add_value
from thresher.documents.formats.workbook import MOST_COLUMNS, MOST_MERGED, Sheet, Sheets, add_remark, put
from thresher.structure.locators import column_name
from thresher.structure.versions import written
from thresher.text.marks import TICKED, UNTICKED

__all__ = [
    "MOST_COLUMNS",
    "MOST_MERGED",
    "NOTES_LABEL",
    "PROGRAMS",
    "TEMPLATE_MOMENTS",
    "TICKED",
    "UNTICKED",
    "Sheet",
    "Sheets",
    "add_remark",
    "add_value",
    "attribute",
    "child",
    "children",
    "column_name",
    "descendants",
    "local",
    "opened",
    "put",
    "read_markup",
    "read_text",
    "whole",
    "written",
    "xml_of",
    "xml_root",
]
