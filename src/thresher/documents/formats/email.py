"""E-mail: the head lines a reader sees, and the body; attachments are named, not read."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.formats.html import read_markup
from thresher.errors import DocumentError
from thresher.types import Table

HEAD = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes) -> Parsed:
    """One message."""
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
        assert isinstance(message, EmailMessage)  # what the default policy makes
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
    assembly.paragraph("\n".join(f"{name}: {value}" for name, value in head.items()))
    tables: tuple[Table, ...] = ()
    if body is not None and body.get_content_subtype() == "html":
        page = read_markup(content).assembly
        offset = len(assembly.text) + 2
        assembly.paragraph(page.text)
        tables = page.shifted_tables(offset)
    else:
        assembly.paragraph(content)
    metadata = {name.lower(): value for name, value in head.items() if name in ("From", "To", "Cc", "Subject")}
    if any(attached):
        metadata["attachments"] = ", ".join(name for name in attached if name)
    return Parsed(
        kind="email",
        text=assembly.text,
        tables=tables,
        title=head.get("Subject", ""),
        date=iso_date(head.get("Date", "")),
        metadata=metadata,
    )
