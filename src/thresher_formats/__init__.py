"""Kinds of documents that few people have, as a stranger would write them: here as data, named by entry points.

Of Thresher the readers import what docs/extending.md lists, and nothing else.
"""

from __future__ import annotations

import re

from thresher.documents.registry import FileKind


def _open(name: str, label: str, mime_type: str, reader: str) -> FileKind:
    """A kind of OpenDocument; its templates (ott, ots, otp) are read too."""
    mime_types = tuple(
        f"application/vnd.oasis.opendocument.{mime_type}{template}" for template in ("", "-template", "-web")
    )
    extensions = (f".{name}", f".ot{name[-1]}")
    reader = f"thresher_formats.opendocument:{reader}"
    return FileKind(name, label, extensions, mime_types, reader, zip_member="META-INF/manifest.xml")


ODT = _open("odt", "an OpenDocument text (odt)", "text", "read_text")
ODS = _open("ods", "an OpenDocument spreadsheet (ods)", "spreadsheet", "read_spreadsheet")
ODP = _open("odp", "an OpenDocument presentation (odp)", "presentation", "read_presentation")

RTF = FileKind(
    "rtf",
    "RTF",
    (".rtf",),
    ("application/rtf", "text/rtf"),
    "thresher_formats.rtf:read_rtf",
    signature=re.compile(rb"\s*\{\\rtf"),
)
XML = FileKind(
    "xml",
    "XML",
    (".xml", ".rss", ".atom", ".svg", ".dbk", ".fb2", ".dita"),
    ("application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "image/svg+xml"),
    "thresher_formats.xml_document:read_xml",
    begins=re.compile(rb"<\?xml"),
)
LATEX = FileKind(
    "latex", "LaTeX", (".tex", ".ltx", ".latex"), ("application/x-tex",), "thresher_formats.latex:read_latex"
)
MAN = FileKind(
    "man",
    "a manual page",
    (".man", ".roff"),
    ("text/troff",),
    "thresher_formats.manual_page:read_manual_page",
    begins=re.compile(rb"[.'](?s:.*?)^\.TH[ \t]+\S|\.TH[ \t]+\S", re.MULTILINE),
)

_LIGHT = "thresher_formats.light_markup"
RST = FileKind("rst", "reStructuredText", (".rst",), ("text/x-rst",), f"{_LIGHT}:read_restructured")
ADOC = FileKind("adoc", "AsciiDoc", (".adoc", ".asciidoc"), ("text/asciidoc",), f"{_LIGHT}:read_asciidoc")
ORG = FileKind("org", "Org", (".org",), ("text/org", "text/x-org"), f"{_LIGHT}:read_org")

CALENDAR = FileKind(
    "calendar", "a calendar (ics)", (".ics",), ("text/calendar",), "thresher_formats.icalendar:read_calendar"
)
CARDS = FileKind(
    "cards", "an address book (vcf)", (".vcf", ".vcard"), ("text/vcard",), "thresher_formats.vcard:read_cards"
)

_SLACK = r'\[\s*\{(?=(?s:.*?)"type":\s*"message")(?=(?s:.*?)"ts":\s*"\d{10}\.\d{6}")'
_TEAMS = r'(?:\{[^{}]*?"(?:value|messages)":\s*)?\[\s*\{(?=(?s:.*?)"messageType":)(?=(?s:.*?)"createdDateTime":)'
WHATSAPP = (
    r"(?P<bracket>\[)?(?P<day>\d{1,4}[./-]\d{1,2}[./-]\d{2,4})(?(bracket),|,?) (?P<hour>\d{1,2})[:.](?P<minute>\d\d)"
    r"(?(bracket)(?:[:.]\d\d)?)(?:\W{0,3}(?P<half>[AP])\.?M\.?)?(?(bracket)\]| -) "
)
"""How each message begins: `[02.03.26, 09:00:12] ` or `3/2/26, 9:00 AM - `."""
CHAT = FileKind(
    "chat",
    "a chat",
    (),
    (),
    "thresher_formats.chat:read_chat",
    begins=re.compile(rb"(?:\xef\xbb\xbf)?(?:\xe2\x80\x8e)?(?:%b)" % "|".join((_SLACK, _TEAMS, WHATSAPP)).encode()),
    beside=("../users.json",),
)
