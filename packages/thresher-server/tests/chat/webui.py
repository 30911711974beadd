"""Open WebUI as far as it reads a reply: its middleware for streams and titles, and how its page numbers sources.

Written after `utils/middleware.py` (`streaming_chat_response_handler`, `background_tasks_handler`) and
`Citations.svelte` of 0.9 to 0.11, for the parts that an upstream can get wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

HEADERS = {
    "X-OpenWebUI-User-Name": "Ada",
    "X-OpenWebUI-User-Id": "1",
    "X-OpenWebUI-User-Email": "ada@example.org",
    "X-OpenWebUI-User-Role": "user",
}


def prompt(output: str) -> str:
    """A prompt for a side task, which names the form of its JSON before a history (`%s`)."""
    return f"### Task:\nDo it.\n### Output:\n{output}\n### Chat History:\n<chat_history>\n%s\n</chat_history>"


TITLE = prompt('JSON format: { "title": "your concise title here" }\n### Examples:\n- { "title": "📉 Stocks" },')
TAGS = prompt('JSON format: { "tags": ["tag1", "tag2", "tag3"] }')
FOLLOW_UPS = prompt('JSON format: { "follow_ups": ["Question 1?", "Question 2?", "Question 3?"] }')
QUERIES = prompt('Strictly return in JSON format:\n{\n  "queries": ["query1", "query2"]\n}')
IMAGE_PROMPT = prompt('Strictly return in JSON format:\n{\n    "prompt": "Your detailed description here."\n}')
AUTOCOMPLETE = """### Task:
You are an autocompletion system. Continue the text in `<text>` based on the **completion type** in `<type>`.
5. If unsure, return: `{ "text": "" }`.
### Context:
<chat_history>
%s
</chat_history>
<type>search query</type>
<text>When does the fer</text>
#### Output:
"""
EMOJI = "Your task is to reflect the speaker's likely facial expression through a fitting emoji.\n\nMessage: ```%s```"

RAG = """### Task:
Respond to the user query using the provided context, incorporating inline citations in the format [id] **only when \
the <source> tag includes an explicit id attribute** (e.g., <source id="1">).
### Guidelines:
- If you don't know the answer, clearly state that.
<context>
<source id="1" name="notes.txt">{ "title": "ships" } The ferry is red.</source>
</context>
"""
"""What it puts before a question that has a file or knowledge of its own."""

HISTORY = "USER: When does the ferry to Gull Island leave?\nASSISTANT: At 06:40 [1].\nUSER: And back?"


@dataclass
class Shown:
    """What a person sees of a message."""

    content: str = ""
    statuses: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)


def middleware(lines: Iterable[str]) -> Shown:
    """A stream, line by line as it reads it: `event` is handed on, then the content of the first choice."""
    shown = Shown()
    for line in lines:
        if not line.strip() or not line.startswith("data:"):
            continue
        try:
            data = json.loads(line[len("data:") :].strip())
        except ValueError:
            assert "[DONE]" in line
            continue
        if "event" in data:
            emitted(shown, data["event"])
        delta = data["choices"][0]["delta"]
        assert "annotations" not in delta  # it would show them beside the sources
        shown.content += delta.get("content") or ""
    return shown


def emitted(shown: Shown, event: dict[str, Any]) -> None:
    """An event that reaches the page; those named here are kept with the message."""
    match event.get("type"):
        case "status":
            shown.statuses.append(event["data"])
        case "source" | "citation":
            shown.sources.append(event["data"])
        case other:
            raise AssertionError(f"nothing shows an event of type {other}")


def grouped(sources: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The numbered list that markers mean: passages with one `metadata.source` are one entry."""
    found: list[dict[str, Any]] = []
    for source in sources:
        for at, document in enumerate(source["document"]):
            metadata = source["metadata"][at]
            distances = source.get("distances")
            id_ = metadata.get("source") or source["source"].get("id") or "N/A"
            name = {**source["source"], "name": metadata["name"]} if metadata.get("name") else source["source"]
            if id_.startswith(("http://", "https://")):
                name = {**name, "name": id_, "url": id_}
            entry = next((one for one in found if one["id"] == id_), None)
            if entry is None:
                entry = {"id": id_, "source": name, "document": [], "metadata": [], "distances": []}
                found.append(entry)
            entry["document"].append(document)
            entry["metadata"].append(metadata)
            entry["distances"] += [distances[at]] if distances else []
    return found


def clicked(shown: Shown, marker: int) -> dict[str, Any]:
    """What opens behind a marker in the text."""
    assert f"[{marker}]" in shown.content
    return grouped(shown.sources)[marker - 1]


def shows_percent(entries: Iterable[dict[str, Any]]) -> bool:
    """Whether relevance is shown as per cent: only where every distance lies between -1 and 1."""
    return all(-1 <= distance <= 1 for entry in entries for distance in entry["distances"])


def markers(text: str) -> list[int]:
    """The markers that it makes chips of."""
    return [int(number) for number in re.findall(r"\[(\d+)\]", text)]
