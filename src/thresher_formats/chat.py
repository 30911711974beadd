"""Exports of chats (Slack, Teams, WhatsApp): a line for each message of a person, with its time and sender."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from html import unescape
from typing import Any

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, decode, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher_formats import WHATSAPP

_SENT = re.compile(rf"^\u200e?{WHATSAPP}", re.MULTILINE | re.IGNORECASE)
_FROM = re.compile(r"([^:\n]{1,60}): (.*)", re.DOTALL)
OF_PERSONS = ("", "me_message", "thread_broadcast", "file_share")
"""Subtypes of Slack's messages; the others are of bots and of the channel itself."""
NOTHING = re.compile(r"<Media omitted>|(?:\S+ omitted)|This message was deleted\.?|null", re.IGNORECASE)
Message = tuple[datetime, str, str]  # when, who, what


def read_chat(file: RawFile) -> Parsed:
    """One export: a day of a channel, or a whole conversation."""
    text, notes = decode(file.data)
    text = normalise(text)
    try:
        if _SENT.match(text.lstrip()):
            messages = list(_of_whatsapp(text.lstrip()))
        else:
            value = json.loads(text, strict=False)
            records = value if isinstance(value, list) else value.get("value") or value.get("messages")
            is_slack = any("ts" in one for one in records)
            messages = list(_of_slack(records, _names(file)) if is_slack else _of_teams(records))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise DocumentError(f"the chat cannot be parsed ({error})", next_step="export it again") from error
    assembly = Assembly()
    for at, who, what in sorted(messages, key=lambda message: message[0]):
        if (said := clean_inline(what)) and not NOTHING.fullmatch(said):
            assembly.paragraph(f"{at:%Y-%m-%d %H:%M} {clean_inline(who)}: {said}")
    if not assembly:
        raise DocumentError("it has no message of a person", next_step="leave it out")
    return assembly.parsed(date=min(messages)[0].date().isoformat(), metadata=notes)


def _names(file: RawFile) -> Mapping[str, str]:
    """The people of a Slack workspace by their ids: users.json stands beside the folders of the channels."""
    users = json.loads(file.beside.get("../users.json", "[]"))
    return {one["id"]: _called(one.get("profile") or {}) or one.get("real_name") or one["name"] for one in users}


def _called(profile: Mapping[str, Any]) -> str:
    return profile.get("real_name") or profile.get("display_name") or ""


def _of_slack(records: Any, names: Mapping[str, str]) -> Iterator[Message]:
    def shown(found: re.Match[str]) -> str:
        sign, what, label = found[1], found[2], found[3]
        if sign == "@":
            return f"@{names.get(what) or label or what}"
        return f"{sign.replace('!', '@')}{label or what}" if sign else f"{label} ({what})" if label else what

    for one in records:
        if one.get("type") == "message" and one.get("subtype", "") in OF_PERSONS and "bot_id" not in one:
            who = names.get(one.get("user", "")) or _called(one.get("user_profile") or {}) or one.get("user", "")
            text = unescape(re.sub(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>", shown, one.get("text", "")))
            yield datetime.fromtimestamp(float(one["ts"]), UTC), who, text


def _of_teams(records: Any) -> Iterator[Message]:
    for one in records:
        who = ((one.get("from") or {}).get("user") or {}).get("displayName")
        if one.get("messageType") == "message" and who:
            text = unescape(re.sub(r"<[^<>]{0,2000}>", " ", (one.get("body") or {}).get("content") or ""))
            yield datetime.fromisoformat(one["createdDateTime"].replace("Z", "+00:00")), who, text


def _of_whatsapp(text: str) -> Iterator[Message]:
    heads = list(_SENT.finditer(text))
    days = [re.split(r"[./-]", head["day"]) for head in heads]
    month_first = all(int(day[0]) < 13 for day in days) and (
        any(int(day[1]) > 12 for day in days) or ("/" in heads[0]["day"] and any(head["half"] for head in heads))
    )
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, (first, second, third), end in zip(heads, days, ends, strict=True):
        if sent := _FROM.match(text[head.end() : end]):
            year, month, day = (first, second, third) if len(first) == 4 else (third, second, first)
            if month_first and len(first) < 4:
                month, day = day, month
            hour = int(head["hour"]) % 12 + 12 * (head["half"] in "pP") if head["half"] else int(head["hour"])
            at = datetime(int(year) + 2000 * (len(year) == 2), int(month), int(day), hour, int(head["minute"]))
            yield at, sent[1], sent[2]
