"""E-mail: the head lines a reader sees, and the body; attachments are named, not read."""

from __future__ import annotations

import email
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import EmailPolicy
from typing import cast

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.formats.html import read_markup
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError

HEAD = ("From", "To", "Cc", "Date", "Subject")
MAX_HEADER, MAX_CONTENT_HEADER = 2_000, 500
"""Characters of a header that the standard library takes apart: its time grows with their square, and 40,000 take half
a minute. Longer lists of recipients are decoded only; of longer `Content-` headers the beginning counts."""


class BoundedPolicy(EmailPolicy):
    """The default policy, in linear time."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        """What a header says."""
        if name.lower().startswith("content-"):
            value = value[:MAX_CONTENT_HEADER]
        elif len(value) > MAX_HEADER:
            return str(make_header(decode_header(value)))
        return cast(str, super().header_fetch_parse(name, value))


def read_mail(file: RawFile) -> Parsed:
    """One message."""
    try:
        message = email.message_from_bytes(file.data, policy=BoundedPolicy())
        assert isinstance(message, EmailMessage)  # what the policy makes
        head = {name: clean_inline(str(message[name])) for name in HEAD if message[name]}
        attached = [clean_inline(part.get_filename() or "") for part in message.iter_attachments()]
        body = message.get_body(preferencelist=("plain", "html"))
        content = "" if body is None else str(body.get_content())
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentError(
            f"the e-mail cannot be taken apart ({type(error).__name__})", next_step="save it again as .eml"
        ) from error
    if not head:
        raise DocumentError("not an e-mail: it has no From, To, Date or Subject", next_step="rename it to .txt")
    assembly = Assembly()
    assembly.mark("part", "header")
    assembly.paragraph("\n".join(f"{name}: {value}" for name, value in head.items()))
    assembly.mark("part", "body" if body is None else f"body ({body.get_content_type()})")
    if body is not None and body.get_content_subtype() == "html":
        if page := read_markup(content).assembly:
            assembly.add(page)
    else:
        assembly.paragraph(content)
    metadata = {name.lower(): value for name, value in head.items() if name != "Date"}
    if any(attached):
        metadata["attachments"] = ", ".join(name for name in attached if name)
    return Parsed(
        assembly.text,
        tables=assembly.tables,
        marks=assembly.marks,
        title=head.get("Subject", ""),
        date=iso_date(head.get("Date", "")),
        metadata=metadata,
    )
