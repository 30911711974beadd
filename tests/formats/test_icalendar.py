"""Calendar files: what stands in a file is said in a sentence for each entry."""

from __future__ import annotations

import pytest

from tests.documents.making import parse_bytes
from thresher.errors import DocumentError
from thresher.types import Document


def told(*lines: str, kind: str = "VEVENT") -> str:
    body = "\r\n".join(("BEGIN:VCALENDAR", f"BEGIN:{kind}", *lines, f"END:{kind}", "END:VCALENDAR", ""))
    (document,) = parse_bytes(body.encode(), name="a.ics")
    assert isinstance(document, Document)
    return document.text


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ("DTSTART;TZID=Europe/Berlin:20240507T193000", "DTEND;TZID=Europe/Berlin:20240507T210000",
             "LOCATION:Town hall\\, room 2"),
            "Choir: Tuesday, 7 May 2024, 19:30 to 21:00 (Europe/Berlin), at Town hall, room 2.",
        ),
        (("DTSTART;VALUE=DATE:20240614", "DTEND;VALUE=DATE:20240615"), "Choir: Friday, 14 June 2024."),
        (
            ("DTSTART;VALUE=DATE:20240614", "DTEND;VALUE=DATE:20240617"),
            "Choir: Friday, 14 June 2024 to Sunday, 16 June 2024.",
        ),
        (
            ("DTSTART:20240601T233000Z", "DURATION:PT1H30M", "STATUS:CANCELLED"),
            "Choir: cancelled: Saturday, 1 June 2024, 23:30 to Sunday, 2 June 2024, 01:00 (UTC).",
        ),
        (
            ("DTSTART:20240507T193000", "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20240625T220000Z",
             "EXDATE:20240521T193000"),
            "Choir: Tuesday, 7 May 2024, 19:30; repeats every week on Tuesday and Thursday until 25 June 2024, "
            "but not on 21 May 2024.",
        ),
        (
            ("DTSTART:20240629T100000", "RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=-1SA;COUNT=4"),
            "Choir: Saturday, 29 June 2024, 10:00; repeats every 2 months on the last Saturday, 4 times.",
        ),
    ],
)  # fmt: skip
def test_an_event_says_what_when_where_and_how_often(lines: tuple[str, ...], sentence: str) -> None:
    assert told("SUMMARY:Choir", *lines) == sentence


def test_folded_lines_people_and_descriptions_are_read_and_alarms_are_not() -> None:
    text = told(
        "SUMMARY:Choir",
        "DTSTART:20240507T193000",
        'ORGANIZER;CN="Lena Voss":mailto:lena@x.org',
        "ATTENDEE:mailto:ada@x.org",
        "DESCRIPTION:Bring the blue bo",
        " ok.\\nBe early.",
        "BEGIN:VALARM",
        "DESCRIPTION:Reminder",
        "END:VALARM",
    )
    assert "Organized by Lena Voss. Attended by ada@x.org.\nBring the blue book.\nBe early." in text
    assert "Reminder" not in text


def test_a_task_says_when_it_is_due() -> None:
    assert (
        told("SUMMARY:Pay the rent", "DUE;VALUE=DATE:20240630", kind="VTODO")
        == "Pay the rent: due Sunday, 30 June 2024."
    )


def test_a_calendar_without_events_is_refused_with_what_to_do() -> None:
    with pytest.raises(DocumentError, match="it has no events"):
        told("SUMMARY:Choir", kind="VALARM")
