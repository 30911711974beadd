"""Calendar files (iCalendar, RFC 5545): each event or task as a sentence that says what, when, where and how often."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, decode, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.parts.documents import written

_LINE = re.compile(
    r"(?:[\w-]+\.)?(?P<name>[A-Za-z\d-]+)"
    r'(?P<given>(?:;[A-Za-z\d-]+(?:=(?:"[^"]*"|[^";:]*)(?:,"[^"]*")*)?)*):(?P<value>.*)'
)
_GIVEN = re.compile(r';([A-Za-z\d-]+)(?:=(?:"([^"]*)"|([^";:]*)))?')
_DURATION = re.compile(r"\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
ENTRIES = ("VEVENT", "VTODO", "VJOURNAL")
UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year", "HOURLY": "hour", "MINUTELY": "minute"}
DAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
        "SU": "Sunday"}  # fmt: skip
ORDINALS = {
    "1": "first",
    "2": "second",
    "3": "third",
    "4": "fourth",
    "5": "fifth",
    "-1": "last",
    "-2": "second-to-last",
}
ROLES = {"ORGANIZER": "Organized by", "ATTENDEE": "Attended by", "CONTACT": "Contact:", "CATEGORIES": "Categories:",
         "URL": "See"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """What a line states, and the parameters of its name."""

    text: str
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """A text without its escapes; of a person the name."""
        text = re.sub(r"\\([\\;,nN])", lambda found: "\n" if found[1] in "nN" else found[1], self.text)
        return self.given.get("CN") or re.sub(r"^mailto:", "", text, flags=re.IGNORECASE)

    @property
    def moment(self) -> date | None:
        """A day, or a day and time."""
        for form in ("%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%Y%m%d"):
            try:
                found = datetime.strptime(self.text.removesuffix("Z"), form)
            except ValueError:
                continue
            return found if "T" in self.text else found.date()
        return None

    @property
    def zone(self) -> str:
        """Whose clock a time is of, as people write it; empty where none is said."""
        name = "UTC" if self.text.endswith("Z") else self.given.get("TZID", "")
        return f" ({name.strip('/')})" if name and "T" in self.text else ""


Entry = dict[str, list[Value]]


def read_calendar(file: RawFile) -> Parsed:
    """A calendar file: a paragraph for each of its events, tasks and journal entries."""
    text, notes = decode(file.data)
    assembly = Assembly()
    title, count = "", 0
    for kind, entry in _entries(normalise(text)):
        if not kind:
            title = title or next((one.shown for name in ("X-WR-CALNAME", "NAME") for one in entry.get(name, ())), "")
        elif told := _told(entry):
            count += 1
            assembly.mark("part", f"{'task' if kind == 'VTODO' else 'event'} {count}")
            assembly.paragraph(told)
    if not assembly:
        raise DocumentError("it has no events", next_step="check that it is a calendar file, or rename it to .txt")
    return assembly.parsed(title=clean_inline(title), metadata={**notes, "events": count})


def _entries(text: str) -> Iterator[tuple[str, Entry]]:
    """Each entry with its kind, then what the calendar says of itself; alarms and rules of zones are left out."""
    inside: list[tuple[str, Entry]] = [("", {})]
    for name, value in content_lines(text):
        if name == "BEGIN":
            inside.append((value.text.strip().upper(), {}))
        elif name == "END" and len(inside) > 1:
            kind, entry = inside.pop()
            if kind in ENTRIES:
                yield kind, entry
            elif kind == "VCALENDAR":
                yield "", entry
        else:
            inside[-1][1].setdefault(name, []).append(value)


def content_lines(text: str) -> Iterator[tuple[str, Value]]:
    """The name and value of each line, folded ones whole; what an old file gives without a name is its TYPE."""
    for line in re.sub(r"\n[ \t]", "", text).split("\n"):
        if (found := _LINE.fullmatch(line.rstrip())) is None:
            continue
        given: dict[str, str] = {}
        for parameter, quoted, plain in _GIVEN.findall(found["given"]):
            key, stated = (parameter.upper(), quoted or plain) if quoted or plain else ("TYPE", parameter)
            given[key] = f"{given[key]},{stated}" if key in given else stated
        yield found["name"].upper(), Value(found["value"], given)


def _told(entry: Entry) -> str:
    """An entry in sentences."""

    def first(name: str) -> str:
        return clean_inline(next((one.shown for one in entry.get(name, ())), ""))

    called, place = first("SUMMARY"), first("LOCATION")
    cancelled = "cancelled: " if first("STATUS") == "CANCELLED" else ""
    when = _when(entry)
    told = f"{called or 'Without a name'}: {cancelled}{when}{f', at {place}' if place else ''}{_repeats(entry)}."
    further = [
        f"{said} {', '.join(clean_inline(one.shown) for one in entry[name])}."
        for name, said in ROLES.items()
        if name in entry
    ]
    about = next((one.shown for one in entry.get("DESCRIPTION", ())), "")
    return "\n".join(filter(None, [told if when or called else "", " ".join(further), about.strip()]))


def _when(entry: Entry) -> str:
    start, end, due, length = (_first(entry, name) for name in ("DTSTART", "DTEND", "DUE", "DURATION"))
    end = end or due
    begins, ends = (None if one is None else one.moment for one in (start, end))
    if start is None or begins is None:
        return f"due {_moment(ends)}{end.zone}" if end is not None and ends is not None else ""
    if ends is None and length is not None:
        ends, end = begins + _length(length.text), start
    if end is None or ends is None:
        return f"{_moment(begins)}{start.zone}"
    if not isinstance(ends, datetime) and not isinstance(begins, datetime):
        last = ends - timedelta(days=1)  # the end is the first day after it
        return _moment(begins) if last <= begins else f"{_moment(begins)} to {_moment(last)}"
    same = isinstance(ends, datetime) and isinstance(begins, datetime) and ends.date() == begins.date()
    until = f"{ends:%H:%M}" if same else _moment(ends)
    zones = ("", end.zone) if start.zone == end.zone else (start.zone, end.zone)
    return f"{_moment(begins)}{zones[0]} to {until}{zones[1]}"


def _first(entry: Entry, name: str) -> Value | None:
    return next(iter(entry.get(name, ())), None)


def _moment(moment: date) -> str:
    clock = f", {moment:%H:%M}" if isinstance(moment, datetime) else ""
    return f"{moment:%A}, {written(moment)}{clock}"


def _length(text: str) -> timedelta:
    found = _DURATION.fullmatch(text.strip())
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0,) * 5
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


def _repeats(entry: Entry) -> str:
    """How often an entry comes, until when, and the days that are left out or added."""
    told = ""
    for rule in entry.get("RRULE", ()):
        parts = dict(part.split("=", 1) for part in rule.text.upper().split(";") if "=" in part)
        unit, step = UNITS.get(parts.get("FREQ", ""), ""), parts.get("INTERVAL", "1")
        if not unit:
            continue
        told += f"; repeats every {unit if step == '1' else f'{step} {unit}s'}"
        if days := [found for one in parts.get("BYDAY", "").split(",") if (found := _day(one))]:
            told += f" on {' and '.join(days)}"
        if (number := parts.get("BYMONTHDAY")) is not None:
            told += f" on day {number.replace(',', ' and ')}"
        if (until := Value(parts.get("UNTIL", "")).moment) is not None:
            told += f" until {_moment(until).split(', ')[1]}"
        if (count := parts.get("COUNT")) is not None:
            told += f", {count} times"
    for name, said in (("EXDATE", "but not on"), ("RDATE", "and on")):
        days = [written(day) for one in entry.get(name, ()) for text in one.text.split(",")
                if (day := Value(text.strip()).moment) is not None]  # fmt: skip
        told += f", {said} {' and '.join(days)}" if days else ""
    for instead in entry.get("RECURRENCE-ID", ()):
        told += f" (in place of {_moment(instead.moment)})" if instead.moment else ""
    return told


def _day(written_day: str) -> str:
    """`-1FR` as `the last Friday`."""
    found = re.fullmatch(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", written_day.strip())
    if found is None:
        return ""
    number = (found[1] or "").lstrip("+")
    return f"the {ORDINALS.get(number, number)} {DAYS[found[2]]}" if number else DAYS[found[2]]
