"""E-mail: the head lines a reader sees, the own words, and what is attached or quoted as documents of their own.

Saved pages are mails, too.
"""

from __future__ import annotations

import email
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from email.header import decode_header, make_header
from email.message import EmailMessage, MIMEPart
from email.policy import EmailPolicy
from email.utils import parseaddr
from pathlib import PurePosixPath
from typing import cast

from thresher.documents.account import Piece, accounted, page_pieces
from thresher.documents.assembly import QUOTE, Assembly, Member, Parsed
from thresher.documents.cleaning import clean_inline, decode, iso_date
from thresher.documents.formats.html import PageReader, decode_html, read_markup
from thresher.documents.formats.quoted import Quote, parted
from thresher.documents.registry import Held, RawFile, by_mime_type, kind_of
from thresher.errors import DocumentError

HEAD = ("From", "To", "Cc", "Date", "Subject")
MAX_HEADER, MAX_CONTENT_HEADER = 2_000, 500
"""Characters of a header that the standard library takes apart: its time grows with their square, and 40,000 take half
a minute. Longer lists of recipients are decoded only; of longer `Content-` headers the beginning counts."""
LEAST_SHARED = 0.5  # of the words of the part in HTML; a plain part with fewer is a stub ("Please use another program")


MAIL = re.compile(rb"(?:\A|\n\r?\n)From [^\n]*\d\d:\d\d[^\n]*\r?\n(?=[\w-]+:)")
"""The line before each mail of a mailbox, which ends with a date; one in a mail has a `>` before it."""
QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
SIGNS = re.compile(r"^[> ]+", re.MULTILINE)
CITED = re.compile(
    r"<blockquote[^>]*(?:cite|quote)[^>]*>((?:(?!<blockquote).)*?)</blockquote>", re.DOTALL | re.IGNORECASE
)
"""What a program quotes in HTML; the innermost."""


class BoundedPolicy(EmailPolicy):
    """The default policy, in linear time."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        """What a header says."""
        if name.lower().startswith("content-"):
            value = value[:MAX_CONTENT_HEADER]
        elif len(value) > MAX_HEADER:
            return str(make_header(decode_header(value)))
        return cast(str, super().header_fetch_parse(name, value))


def message_of(data: bytes) -> EmailMessage:
    """The message in the bytes."""
    message = email.message_from_bytes(data, policy=BoundedPolicy())
    assert isinstance(message, EmailMessage)  # what the policy makes
    return message


def read_mail(file: RawFile) -> Parsed | Iterator[Held]:
    """One message, and what is attached to it."""
    try:
        message = message_of(file.data)
        head = {name: clean_inline(str(message[name])) for name in HEAD if message[name]}
        bodies = {kind: part for kind in ("plain", "html") if (part := message.get_body((kind,)))}
        parts = [part for part in _parts(message) if not any(part is body for body in bodies.values())]
        body, quotes, notes, seen = _body(parts, bodies, hidden=file.limits.hidden)
        members, unread = _attachments([part for part in parts if not _is_shown(part)])
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentError(
            f"the e-mail cannot be parsed ({type(error).__name__})", next_step="save it again as .eml"
        ) from error
    if not head:
        raise DocumentError("not an e-mail: it has no From, To, Date or Subject", next_step="rename it to .txt")
    assembly = Assembly()
    assembly.mark("part", "header")
    assembly.paragraph("\n".join(f"{name}: {value}" for name, value in head.items()))
    assembly.add(body)
    parsed = assembly.parsed(title=head.get("Subject", ""), date=iso_date(head.get("Date", "")), seen=seen)
    whole = replace(parsed, text="\n".join([parsed.text, *(f"{one.head}\n{one.text}" for one in quotes)]))
    parsed = replace(
        parsed,
        metadata={
            **{name.lower(): value for name, value in head.items() if name != "Date"},
            **notes,
            **({"attachments": ", ".join(member.name for member in members)} if members else {}),
            **({"parts_not_read": ", ".join(unread)} if unread else {}),
            **accounted(file, whole).metadata,
        },
        seen=(),
    )
    held: list[Held] = [parsed, *(_quoted(quote, at, parsed) for at, quote in enumerate(quotes, start=1)), *members]
    return iter(held) if len(held) > 1 else parsed


def _quoted(quote: Quote, number: int, mail: Parsed) -> Parsed:
    """A mail that another one quotes, which its first line names."""
    by = str(mail.metadata.get("from", ""))
    assembly = Assembly()
    assembly.mark("part", f"quoted from {quote.sender}" if quote.sender else "quoted")
    assembly.paragraph(f"Quoted by {parseaddr(by)[0] or by}:\n{quote.head}", quote.text)
    sender = {"author": quote.sender} if quote.sender else {}
    metadata = {**sender, "quoted_by": by}
    return assembly.parsed(source=f"quoted {number}", kind=QUOTE, title=mail.title, date=quote.day, metadata=metadata)


def read_mailbox(file: RawFile) -> Iterator[Member]:
    """The mails of an mbox file, under their numbers."""
    begins = list(MAIL.finditer(file.data))
    if not begins:
        raise DocumentError("not a mailbox: no line begins with From and a date", next_step="rename it to .txt")
    ends = [*(one.start() for one in begins[1:]), len(file.data)]
    for number, (one, end) in enumerate(zip(begins, ends, strict=True), start=1):
        yield Member(f"{number}.eml", QUOTED.sub(rb"\1", file.data[one.end() : end]))


def read_saved_page(file: RawFile) -> Parsed:
    """A page as browsers save it (MHTML), with the pages in its frames."""
    parts = [part for part in _parts(message_of(file.data)) if part.get_content_type() == "text/html"]
    if not parts:
        raise DocumentError("it contains no HTML page", next_step="save the page again")
    assembly, notes, seen = Assembly(), dict[str, str | int](), list[Piece]()
    pages = [_read(part, hidden=file.limits.hidden) for part in parts]
    for page, text, others in pages:
        notes |= others
        seen += page_pieces(text)
        assembly.add(page.assembly)
    first = pages[0][0]
    shown = tuple(seen) if file.limits.hidden else ()
    return assembly.parsed(title=first.title, heading=first.heading, metadata=notes, seen=shown)


def _body(
    parts: Sequence[MIMEPart], bodies: Mapping[str, MIMEPart], *, hidden: bool
) -> tuple[Assembly, list[Quote], Mapping[str, str | int], tuple[Piece, ...]]:
    """What a program shows of a message: its plain part, or that in HTML if the plain part lacks its words; its own
    words and what it quotes.
    """
    chosen = [bodies[kind] for kind in ("plain", "html") if kind in bodies][:1]
    if len(bodies) == 2:
        texts = (_read(bodies[kind], hidden=hidden)[0].assembly.text.lower() for kind in ("plain", "html"))
        plain, html = (set(re.findall(r"\w+", text)) for text in texts)
        if len(html & plain) < LEAST_SHARED * len(html):
            chosen = [bodies["html"]]
    assembly, quotes, notes, seen = Assembly(), list[Quote](), dict[str, str | int](), list[Piece]()
    for part in (*chosen, *filter(_is_shown, parts)):
        assembly.mark("part", f"body ({part.get_content_type()})")
        page, text, others = _read(part, hidden=hidden)
        notes |= others
        seen += page_pieces(text) if part.get_content_subtype() == "html" else [("body", SIGNS.sub("", text))]
        own, found = _own(page.assembly)
        assembly.add(own)
        quotes += found
    return assembly, quotes, notes, tuple(seen) if hidden else ()


def _own(body: Assembly) -> tuple[Assembly, list[Quote]]:
    """The own words of a body and what it quotes; a body with tables below a quote stays whole."""
    own, quotes = parted(body.text)
    if body.text.startswith(own):
        body.end(len(own))
    elif not body.tables:
        body = Assembly()
        body.paragraph(own)
    else:
        quotes = []
    return body, [one for one in quotes if one.text.strip()]


def _read(part: MIMEPart, *, hidden: bool) -> tuple[PageReader, str, Mapping[str, str | int]]:
    """A part as it is read, its text, and how it was decoded."""
    data, charset = cast(bytes, part.get_payload(decode=True)) or b"", part.get_content_charset() or ""
    if part.get_content_subtype() == "html":
        text, notes = decode_html(data, f"charset={charset}" if charset else "")
        return read_markup(_with_signs(text), hidden=hidden), text, notes
    text, notes = decode(data, encoding=charset)
    page = PageReader()
    page.assembly.paragraph(text)
    return page, text, notes


def _with_signs(text: str) -> str:
    """A page whose quotes stand as in plain mails, behind `>`."""

    def signed(quote: re.Match[str]) -> str:
        lines = read_markup(quote[1]).assembly.text.split("\n")
        return f"<pre>{html.escape(chr(10).join(f'> {line}' for line in lines))}</pre>"

    found = 1
    while found:
        text, found = CITED.subn(signed, text)
    return text


def _is_shown(part: MIMEPart) -> bool:
    """Whether a part besides the body is text that stands below it: the words of a mailing list."""
    is_text = part.get_content_type() in ("text/plain", "text/html")
    return is_text and not part.is_attachment() and not part.get_filename()


def _attachments(parts: Sequence[MIMEPart]) -> tuple[list[Member], list[str]]:
    """The parts that are documents, under names of their own, and those that are not read, with what they are."""
    members: dict[str, Member] = {}
    unread = []
    for number, part in enumerate(parts, start=1):
        name = PurePosixPath(clean_inline(part.get_filename() or "")).name
        if part.get_content_type() == "message/rfc822":
            inner = part.get_content()
            data = inner.as_bytes()
            name = f"{PurePosixPath(name or clean_inline(str(inner['Subject'] or number))).stem}.eml"
        else:
            data = cast(bytes, part.get_payload(decode=True)) or b""
        kind = by_mime_type(part.get_content_type())
        name = name or f"{number}{kind.extensions[0] if kind else ''}"
        try:
            kind_of(data, name=name)
        except DocumentError as error:
            unread.append(f"{name}: {error.what}")
            continue
        name = f"{number}-{name}" if name in members else name
        members[name] = Member(name, data)
    return list(members.values()), unread


def _parts(message: MIMEPart) -> Iterator[MIMEPart]:
    """The parts of a message that have no parts; those of a message in it are its own."""
    if message.get_content_maintype() != "multipart":
        yield message
        return
    for part in message.iter_parts():
        yield from _parts(part)
