"""Askers of servers, several at once until a time is over, and the paragraphs of SQuAD that they ask about."""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.machine import rows
from benchmarks.server.serving import Server

ASK = "/api/collections/default/ask"


@dataclass(slots=True)
class Seen:
    """What the askers met: when each reply came, its status, and how long it took."""

    replies: list[tuple[float, str, float]] = field(default_factory=list)

    @property
    def seconds(self) -> list[float]:
        """Of the questions that were answered."""
        return [taken for _, status, taken in self.replies if status == "200"]

    @property
    def statuses(self) -> dict[str, int]:
        """How often each status was met, or error of the connection."""
        return dict(Counter(status for _, status, _ in self.replies))


async def all_ask(
    servers: Sequence[Server], questions: Sequence[str], askers: int, seconds: float, more: Mapping[str, str]
) -> Seen:
    """What so many askers, spread over the servers, meet in so many seconds; `more` is sent with each question."""
    seen, ends = Seen(), time.monotonic() + seconds
    urls = itertools.islice(itertools.cycle(server.url for server in servers), askers)
    await asyncio.gather(*[_asker(url, questions, ends, seen, seed, more) for seed, url in enumerate(urls)])
    return seen


async def _asker(
    url: str, questions: Sequence[str], ends: float, seen: Seen, seed: int, more: Mapping[str, str]
) -> None:
    """Asks one question after the other; one that is told to come back (429) waits as long as it was told."""
    chosen = random.Random(seed)
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        while time.monotonic() < ends:
            started, pause = time.perf_counter(), "1"
            try:
                told = await client.post(ASK, json={"question": chosen.choice(questions), **more})
                status, pause = str(told.status_code), told.headers.get("Retry-After", pause)
            except httpx.HTTPError as error:
                status = type(error).__name__
            seen.replies.append((time.monotonic(), status, time.perf_counter() - started))
            if status != "200":
                await asyncio.sleep(float(pause))


def p95(seconds: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(seconds, n=20)[18]


def squad(number: int, *, asked: int | None = None) -> tuple[list[str], list[str]]:
    """So many paragraphs of SQuAD, and the questions to the first `asked` of them, or to all."""
    found = rows("squad/answered.jsonl") + rows("squad/questions_only.jsonl")
    contexts = list(dict.fromkeys(row["context"] for row in found))[:number]
    there = set(contexts[:asked])
    return contexts, [row["question"] for row in found if row["context"] in there]


def written(folder: Path, paragraphs: Sequence[str]) -> Path:
    """A new folder with a text file for each paragraph."""
    folder.mkdir()
    for number, paragraph in enumerate(paragraphs):
        (folder / f"p{number:04}.txt").write_text(paragraph, encoding="utf-8")
    return folder
