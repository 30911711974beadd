from __future__ import annotations

import json

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes
from thresher.types import Document

SLACK = [
    {
        "type": "message",
        "user": "U2",
        "text": "<@U1> see <https://a.example|the plan> &amp; go",
        "ts": "1772440800.000400",
    },
    {"type": "message", "user": "U1", "text": "The pump\nis back.", "ts": "1772437200.000300"},
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "joined", "ts": "1772430000.000100"},
]
USERS = [{"id": "U1", "name": "imre.v", "profile": {"real_name": "Imre Vasari"}}, {"id": "U2", "name": "dagny"}]
TEAMS = {
    "value": [
        {
            "messageType": "message",
            "createdDateTime": "2026-03-02T09:00:00.12Z",
            "from": {"user": {"displayName": "Imre"}},
            "body": {"contentType": "html", "content": "<p>The pump &amp; it</p>"},
        },
        {"messageType": "systemEventMessage", "createdDateTime": "2026-03-02T08:00:00Z", "from": None, "body": {}},
    ]
}


def test_messages_of_slack_stand_in_order_under_the_names_of_users_json_beside_their_folder() -> None:
    files = {"users.json": json.dumps(USERS).encode(), "ops/2026-03-02.json": json.dumps(SLACK).encode()}
    (read,) = (
        one for one in parse_bytes(making.archive(files), name="slack.zip") if "ops" in getattr(one, "source", "")
    )
    assert isinstance(read, Document)
    assert (read.kind, read.date) == ("chat", "2026-03-02")
    assert read.text.split("\n\n") == [
        "2026-03-02 07:40 Imre Vasari: The pump is back.",
        "2026-03-02 08:40 dagny: @Imre Vasari see the plan (https://a.example) & go",
    ]


@pytest.mark.parametrize(
    ("name", "export", "line"),
    [
        ("t.json", json.dumps(TEAMS), "2026-03-02 09:00 Imre: The pump & it"),
        ("c.txt", "12/03/2026, 09:01 - Imre: The pump\nruns.\n13/03/2026, 14:02 - Ada: <Media omitted>\n",
         "2026-03-12 09:01 Imre: The pump runs."),
        ("c.txt", "\u200e[02.03.26, 09:00:12] Imre: It runs\n", "2026-03-02 09:00 Imre: It runs"),
        ("c.txt", "3/14/26, 9:00\u202fPM - Imre: It runs\n", "2026-03-14 21:00 Imre: It runs"),
    ],
)  # fmt: skip
def test_a_message_of_teams_or_whatsapp_is_a_line_with_its_time_and_sender(name: str, export: str, line: str) -> None:
    (read,) = parse_bytes(export.encode(), name=name)
    assert isinstance(read, Document)
    assert (read.kind, read.text) == ("chat", line)


def test_a_log_is_no_chat() -> None:
    (read,) = parse_bytes(b"2026-04-18 02:00:00,123 - root - INFO - up\n", name="a.log")
    assert isinstance(read, Document)
    assert read.kind == "text"
