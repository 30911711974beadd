"""The trace of a question: its steps, every chunk it touched, kept or dropped, and the stored answers of a collection.

`Record` times the slots of a run and gathers degradations; `Traces` stores answers with all that `replay` needs.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from thresher.answer import Answer
from thresher.deadline import Allow, within
from thresher.errors import BudgetSpent, Degraded, StoreError, UsageError
from thresher.types import (
    ChunkTrace,
    Correction,
    Decision,
    Generation,
    Hit,
    Judged,
    Judgement,
    Notes,
    Query,
    Refined,
    Score,
    Step,
)

if TYPE_CHECKING:
    from thresher.protocols import Files

_log = logging.getLogger(__name__)

Value = TypeVar("Value", bound=Query | Judged | Decision | Correction | Refined | Generation)


class Record:
    """The steps of one run as they finish, and its degradations; `allow` raises BudgetSpent to end a slot."""

    def __init__(self, degraded: Sequence[str], *, strict: bool, allow: Allow) -> None:
        self.steps: list[Step] = []
        self.degraded = tuple(degraded)
        self.spent: tuple[str, str] | None = None
        """The slot that the budget ended, and the budget."""
        self._allow = allow
        self._strict = strict
        self._draft: Generation | None = None
        self._refuse()

    def run(self, name: str, considered: int, part: Callable[[], Value], unreached: Value | None = None) -> Value:
        """The part's value, or `unreached` when the budget is spent; keeps the step. Raises Degraded if `strict`."""
        started = perf_counter()
        value = part() if unreached is None else self._reached(name, part, unreached)
        seconds = perf_counter() - started
        self.degraded = tuple(dict.fromkeys((*self.degraded, *value.notes.degraded)))
        self._refuse()
        kept, detail = _outcome(value, self._draft)
        self.steps.append(Step(name, seconds, considered, kept, {**detail, **value.notes.to_dict()}, value))
        self._draft = value if isinstance(value, Generation) else None
        _log.info("%s: kept %d, considered %d, %.3f s", name, kept, considered, seconds)
        return value

    def step(
        self, name: str, considered: int, part: Callable[[], Value], unreached: Value | None = None
    ) -> Generator[Step, None, Value]:
        """Yield the step, return the value (for `yield from`)."""
        value = self.run(name, considered, part, unreached)
        yield self.steps[-1]
        return value

    @property
    def before_the_end(self) -> list[Step]:
        """The steps before the slot that the budget ended; all of them where it ended none."""
        names = [step.name for step in self.steps]
        return self.steps if self.spent is None else self.steps[: names.index(self.spent[0])]

    def _reached(self, name: str, part: Callable[[], Value], unreached: Value) -> Value:
        """The part's value, or `unreached`; the first slot that the budget ends notes it."""
        if self.spent is not None:
            return unreached
        try:
            self._allow()
            with within(self._allow):
                return part()
        except BudgetSpent as spent:
            self.spent = name, spent.what
            partial: Value = replace(unreached, notes=unreached.notes + Notes(degraded=(f"{name}: {spent.what}",)))
            return partial

    def fates(self, chosen: Sequence[Hit]) -> tuple[ChunkTrace, ...]:
        """Every touched chunk once, in order, with all its scores and where it was dropped, `chosen` by the verdict."""
        fates: dict[str, ChunkTrace] = {}
        verdict = None
        for step in self.steps:
            if isinstance(step.value, Decision):
                verdict = step.value.verdict
            elif isinstance(step.value, Judged | Correction | Refined):
                for judgement in step.value.judgements:
                    id_ = judgement.hit.chunk.id
                    fates[id_] = _fate(step.name, judgement, fates.get(id_))
        used = {hit.chunk.id for hit in chosen}
        return tuple(
            replace(fate, kept=False, dropped_by="decide", reason=f"the verdict is {verdict}")
            if fate.kept and id_ not in used
            else fate
            for id_, fate in fates.items()
        )

    def _refuse(self) -> None:
        if self._strict and self.degraded:
            raise Degraded(
                f"the recipe cannot be run as it is written ({'; '.join(self.degraded)})",
                next_step="configure what is missing, or ask without `strict`",
            )


def _outcome(value: Any, draft: Generation | None) -> tuple[int, dict[str, Any]]:
    """How many things came out of a slot, and the step's detail without the notes; with a `draft` what changed."""
    match value:
        case Query():
            return 1, {"question": value.question, "search": value.search}
        case Judged():
            return len(value.kept), {}
        case Decision():
            verdict = None if value.verdict is None else str(value.verdict)
            return 1, {"verdict": verdict, "confidence": value.confidence, "reason": value.reason}
        case Correction():
            return len(value.hits), {"outcome": value.outcome} if value.outcome else {}
        case Refined():
            return len(value.evidence), {}
        case _:
            outcome = {name: getattr(value, name) for name in ("abstained", "doubtful", "reason")}
            changed = {name: new for name, new in outcome.items() if draft is None or getattr(draft, name) != new}
            return len(value.citations), changed


def _fate(slot: str, judgement: Judgement, before: ChunkTrace | None) -> ChunkTrace:
    scores: Mapping[str, Score] = {**(before.hit.scores if before else {}), **judgement.hit.scores}
    if judgement.score is not None:
        scores = {**scores, slot: judgement.score}
    return ChunkTrace(
        hit=replace(judgement.hit, scores=scores),
        kept=judgement.keep,
        dropped_by=None if judgement.keep else slot,
        reason=judgement.reason or (before.reason if before else ""),
        stood_for=tuple(dict.fromkeys((*(before.stood_for if before else ()), *judgement.stood_for))),
    )


KEPT = 1000
"""Traces kept at most; the oldest go first. One is about 50 kB, so a collection's traces stay under 50 MB."""

LEFT = 950
"""Of more than `KEPT` so many stay: which are oldest is then looked up for every fiftieth answer only."""

UNCOUNTED = 50
"""Answers that are stored before the traces are counted again, which several processes may be adding to."""

LAST = "last"
"""The file that holds the id of the newest trace."""

DAMAGED = ""
"""Stands for the sources of a trace that cannot be read; no source is the empty text."""


@dataclass(frozen=True, slots=True)
class Request:
    """How a question was asked, and everything that came from outside for it: enough to ask it again."""

    recipe: str
    settings: Mapping[str, Any]
    """Every setting but the secret ones, by dotted key."""
    outside: str | None
    where: str | None
    today: str
    exchanges: Mapping[str, Any]
    history: tuple[tuple[str, str], ...] = ()
    """Questions and answers that it followed up on."""
    public_url: str = ""
    """Below which the addresses of its citations are."""
    max_tokens: int | None = None
    """To which its evidence was cut."""
    asserted_from: float | None = None
    """The certified certainty from which an answer was asserted."""
    within: str | None = None
    """The filter that the collection was opened with."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """What a trace quotes: documents by their sources, and the answers that it followed up on."""

    sources: Set[str]
    answer: str
    """Of the trace itself, which later traces may quote."""
    earlier: Set[str]


class Traces:
    """One JSON file per trace: the answer, the labels of its chunks and the request."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._room = 0  # answers that may be stored before the traces are counted

    def stored(self, answer: Answer, request: Request) -> Answer:
        """The answer with the id of its trace; one that cannot be stored is still an answer, and says so."""
        settings = json.dumps(request.settings, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        question = answer.standalone or answer.question
        others = [*([answer.question] if answer.standalone else []), *([request.within] if request.within else [])]
        # The same question of the same collection with the same settings has the same trace.
        asked = (question, answer.recipe, settings, request.outside or "", request.where or "", *others, answer.text)
        traced = replace(answer, trace=hashlib.sha256("\0".join(asked).encode()).hexdigest()[:12])
        try:
            self._write(traced, request)
        except StoreError as error:
            return replace(answer, degraded=(*answer.degraded, f"trace: not stored ({error.what})"))
        return traced

    def _write(self, answer: Answer, request: Request) -> None:
        """Write a trace, and let the oldest go when there are too many. Raises StoreError."""
        labels = {fate.hit.chunk.id: fate.hit.chunk.label for fate in answer.chunks}
        whole = {"answer": answer.to_dict(chunks=True), "labels": labels, "asking": asdict(request)}
        content = json.dumps(whole, ensure_ascii=False)
        self._files.write(f"{answer.trace}.json", content.encode())
        self._files.write(LAST, answer.trace.encode())
        self._room -= 1
        if self._room < 0:
            stored = [trace for trace, _ in self.asked()]
            if len(stored) > KEPT:
                self._files.remove(f"{oldest}.json" for oldest in stored[:-LEFT])
            self._room = min(max(KEPT - len(stored), 0), UNCOUNTED)

    def asked(self) -> list[tuple[str, datetime]]:
        """The ids of all stored answers and when each was stored, the oldest first."""
        return [
            (file.name.removesuffix(".json"), datetime.fromtimestamp(file.modified, UTC))
            for file in self._files.list()
            if file.name.endswith(".json")
        ]

    def asked_at(self, trace: str) -> datetime | None:
        """When a stored answer was stored; None where there is none of that id."""
        found = self._files.find(f"{trace}.json")
        return None if found is None else datetime.fromtimestamp(found.modified, UTC)

    def load(self, identifier: str = LAST) -> dict[str, Any]:
        """A stored answer by its id, or the newest. Raises UsageError when there is none."""
        answer: dict[str, Any] = self._read(identifier)["answer"]
        return {"state": "refused" if answer["abstained"] else "answered", **answer}  # older ones have no state

    def all(self) -> Iterator[dict[str, Any]]:
        """Every stored answer with `asked`, when it was stored, the newest first; damaged ones are left out."""
        for trace, when in reversed(self.asked()):
            with suppress(StoreError, UsageError):  # damaged, or removed just now
                yield {**self.load(trace), "asked": when.isoformat(timespec="seconds")}

    def conversation(self, identifier: str = LAST) -> list[tuple[str, str]]:
        """The questions and answers that a stored answer followed up on, and it itself."""
        stored = self.load(identifier)
        return [*self.request(identifier).history, (stored.get("standalone") or stored["question"], stored["text"])]

    def labels(self, identifier: str = LAST) -> dict[str, str]:
        """What people call the chunks of a stored answer, by chunk id."""
        labels: dict[str, str] = self._read(identifier)["labels"]
        return labels

    def request(self, identifier: str = LAST) -> Request:
        """How the question of a stored answer was asked. Raises UsageError where that was not stored."""
        request: dict[str, Any] = self._read(identifier).get("asking", {})
        if not request:
            raise UsageError(
                "the trace was stored by a version that kept no replies",
                subject=identifier,
                next_step="ask the question again",
            )
        history = tuple((asked, answer) for asked, answer in request.pop("history", ()))
        return Request(**request, history=history)

    def _read(self, identifier: str) -> dict[str, Any]:
        if identifier == LAST:
            newest = self._files.read(LAST)
            if newest is None:
                raise UsageError("no question was asked of this collection yet", next_step="ask one: `ask(QUESTION)`")
            identifier = newest.decode(errors="replace").strip()
        content = self._files.read(f"{identifier}.json") if identifier.isalnum() else None
        if content is None:
            raise UsageError("no such trace", subject=identifier, next_step="use the id that `ask` printed, or `last`")
        try:
            stored: dict[str, Any] = json.loads(content)
            if not {"answer", "labels"} <= stored.keys():
                raise ValueError("not a trace")
        except (ValueError, AttributeError) as error:
            raise StoreError(
                "the stored trace is damaged",
                subject=self._files.where(f"{identifier}.json"),
                next_step="ask the question again to write it anew",
            ) from error
        return stored

    def sources(self) -> set[str]:
        """The sources that traces quote."""
        return {source for trace, _ in self.asked() for source in self._quoted(trace).sources} - {DAMAGED}

    def forget(self, sources: Iterable[str]) -> int:
        """Remove the traces that quote any of the sources, those that follow up on one, and damaged ones; how many."""
        wanted, quoted = {*sources, DAMAGED}, {trace: self._quoted(trace) for trace, _ in self.asked()}
        answers = {one.answer for one in quoted.values() if one.sources & wanted}
        quoting = [trace for trace, one in quoted.items() if one.sources & wanted or one.earlier & answers]
        self._files.remove(f"{trace}.json" for trace in quoting)
        return len(quoting)

    def _quoted(self, trace: str) -> Quoted:
        """A damaged trace counts as quoting anything."""
        try:
            stored = self._read(trace)
            described = stored["answer"]
            sources = {item["source"] for item in (*described["chunks"], *described["citations"])}
            earlier = {answer for _, answer in stored.get("asking", {}).get("history", ())}
            return Quoted(sources, described["text"], earlier)
        except UsageError:  # removed just now
            return Quoted(set(), "", set())
        except (StoreError, KeyError, TypeError, ValueError):
            return Quoted({DAMAGED}, "", set())


ROUNDING = 1e-5
"""A table that was read into memory gives cosines that differ from those of the disk in the seventh digit."""

COMPARED = ("text", "abstained", "reason", "verdict", "confidence", "citations", "conflicts", "degraded", "chunks")
"""Of an answer; times and costs differ from run to run."""


def replay(traces: Traces, identifier: str, ask: Callable[[str, Request], Answer]) -> tuple[Answer, list[str]]:
    """The answer of `ask` to the question of a stored answer, and the names of what differs from the stored one."""
    stored, request = traces.load(identifier), traces.request(identifier)
    answer = replace(ask(stored["question"], request), trace=stored["trace"])
    again = answer.to_dict(chunks=True)
    return answer, [name for name in COMPARED if not _alike(again[name], stored[name])]


def _alike(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same but for rounding, and for files that have changed since."""
    match one, other:
        case dict(), dict():
            keys = one.keys() - {"stale"}
            return keys == other.keys() - {"stale"} and all(_alike(one[key], other[key]) for key in keys)
        case list(), list():
            return len(one) == len(other) and all(map(_alike, one, other))
        case float(), int() | float():
            return abs(one - other) <= ROUNDING
        case _:
            return bool(one == other)
