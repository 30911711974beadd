"""Results as short texts with markers, cut to the number of tokens that agents accept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from thresher.links import file_name
from thresher.tracing.explain import STALE, also, assessment, counted, in_full, shortened, where
from thresher.types import ClaimState, State
from thresher_server.mcp.shapes import (
    AnswerResult,
    CheckResult,
    Citation,
    Claim,
    DocumentList,
    DocumentTold,
    Dropped,
    Passage,
    SearchResult,
)

HOLDS = tuple(state.value for state in ClaimState if state.holds)
"""The states of what the documents say."""

Shape = TypeVar("Shape", bound=BaseModel)

MOST_TOKENS = 24_000
"""Of text plus structure. Agents refuse a result of 25,000 (`MAX_MCP_OUTPUT_TOKENS` of Claude Code)."""

LETTER, MARK = 0.6, 1.0
"""Upper bounds of the tokens of an ASCII letter, digit or blank, and of another ASCII character (English prose: .25,
base64: .6). For any other character, a byte-level tokenizer makes at most one token a byte."""


QUOTED = 300
"""Characters of a quote in the text; the structure has all of it."""

MEANT = {
    "ambiguous": "The passages may not suffice: say so, and check what you conclude.",
    "unsure": "The judge cannot tell whether the passages suffice: say so.",
    "incorrect": "No evidence: do not answer from these documents. Ask in other words, ask another collection, or tell "
    "the person that the documents do not say it.",
}
"""What a verdict means for an agent."""


def replied(text: str, structure: BaseModel) -> CallToolResult:
    """An MCP result: text for a model, and the same as structure for a program."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structure.model_dump(mode="json")
    )


def fitted(make: Callable[[int], Shape], number: int, words: Callable[[Shape], str]) -> CallToolResult:
    """The result with as many of `number` items as fit; `make(0)` must fit."""
    while True:
        structure = make(number)
        text = words(structure)
        if number == 0 or tokens_at_most(text) + tokens_at_most(structure.model_dump_json()) <= MOST_TOKENS:
            return replied(text, structure)
        number = number * 2 // 3


def tokens_at_most(text: str) -> float:
    """Upper bound of the tokens of a text.

    >>> tokens_at_most("ab c!"), tokens_at_most("é")
    (3.4, 2.0)
    """
    letters = sum(one.isascii() and (one.isalnum() or one == " ") for one in text)
    ascii_ = sum(map(str.isascii, text))
    others = len(text.encode("utf-8", "replace")) - ascii_
    return LETTER * letters + MARK * (ascii_ - letters) + others


def beginning(text: str, tokens: float) -> str:
    """The longest beginning of a text that surely has at most so many tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_at_most(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]


def search(result: SearchResult, others: Sequence[str]) -> str:
    """Passages with their markers, and the verdict."""
    found = counted(len(result.passages), "passage")
    lines = [_head(result.verdict, None), f"{found} in collection {result.collection}."]
    if result.verdict in MEANT:
        lines.append(MEANT[result.verdict])
    if not result.passages and others:
        lines.append(f"Other collections: {', '.join(others)}.")
    lines += [f"\n[{one.marker}] {_headed(one.heading)}{one.text}\n    {_where(one)}" for one in result.passages]
    lines += ["", *_dropped(result.dropped, result.dropped_in_all)] if result.dropped else []
    lines += _without(result.degraded, result.omitted)
    return "\n".join(filter(None, lines))


def answer(result: AnswerResult) -> str:
    """The answer, its citations, and its unsupported sentences."""
    lines = [in_full(result.answer, result.reason)]
    lines.append(_head(result.verdict, result.certainty, result.state))
    lines += [_cited(one) for one in result.citations]
    lines += [f"{also(result.abstained)} {one.text}\n{_cited(one.citation)}" for one in result.alternatives]
    lines += [
        f"{'removed, ' if one.removed else ''}{one.state}: “{shortened(one.text, QUOTED)}” {one.reason}".rstrip()
        for one in result.sentences
        if one.state not in HOLDS
    ]
    lines += [f"[{one}] and [{other}] contradict each other" for one, other in result.conflicts]
    lines += _dropped(result.dropped, result.dropped_in_all) if result.abstained else []
    lines += _without(result.degraded, result.omitted)
    lines.append(f"Trace {result.trace}" if result.trace else "")
    return "\n".join(filter(None, lines))


def check(result: CheckResult) -> str:
    """Every claim with its state, unsupported ones first."""
    if result.support is None:
        return "The text makes no claims that could be checked."
    supported = sum(one.state in HOLDS for one in result.claims)
    whole = len(result.claims) == result.claims_in_all
    counts = f"{supported} of {result.claims_in_all} claims supported" if whole else f"{result.support:.0%} supported"
    denied = f", {result.contradicted} contradicted" if result.contradicted else ""
    lines = [f"{counts}{denied} by collection {result.collection}."]
    for one in result.claims:
        lines.append(_claim(one))
        lines += [f"    {_cited(cited)}" for cited in one.citations]
    return "\n".join([*lines, *_without([], result.omitted)])


def documents(result: DocumentList, offset: int) -> str:
    """A line for each document."""
    number = len(result.documents)
    shown = f"{offset + 1} to {offset + number} of " if 0 < number < result.total else ""
    lines = [f"Collection {result.collection}: {shown}{counted(result.total, 'document')}."]
    lines += [_listed(one) for one in result.documents]
    others = [f"{one.name} ({one.documents})" for one in result.collections if one.name != result.collection]
    lines.append(f"Other collections: {', '.join(others)}." if others else "")
    lines.append(f"More: offset={result.next_offset}." if result.next_offset is not None else "")
    return "\n".join(filter(None, lines))


def _listed(one: DocumentTold) -> str:
    pages = f", {counted(one.pages, 'page')}" if one.pages else ""
    return f"- {one.title or file_name(one.source)} ({one.kind}{pages}) {one.document}"


def _head(verdict: str | None, certainty: float | None, state: State = "answered") -> str:
    said = assessment(verdict, certainty, state)
    return f"{said}." if said else ""


def _headed(heading: str) -> str:
    return f"({heading}) " if heading else ""


def _where(one: Passage) -> str:
    return f"{where(file_name(one.source), one.page)}, characters {one.start}-{one.end}, {one.url}"


def _cited(one: Citation) -> str:
    place = f", {one.locator}" if one.locator else f", page {one.page}" if one.page else ""
    outside = ", from outside" if one.origin == "outside" else ""
    stale = f", {STALE[one.stale]}" if one.stale else ""
    at = f"{where(file_name(one.source), None)}{place}{outside}{stale}"
    return f"[{one.marker}] {at}: “{shortened(one.quote, QUOTED)}” {one.url}"


def _claim(one: Claim) -> str:
    why = f" ({one.reason})" if one.reason else ""
    return f"- {one.state} ({one.support:.2f}): “{shortened(one.text, QUOTED)}”{why}"


def _dropped(dropped: Sequence[Dropped], in_all: int) -> list[str]:
    if not dropped:
        return []
    pages = [f" page {one.page}" if one.page else "" for one in dropped]
    told = dict.fromkeys(f"{file_name(one.source)}{page} ({one.why})" for one, page in zip(dropped, pages, strict=True))
    likeliest = "the likeliest of them " if in_all > len(told) else ""
    return [f"Dropped {counted(in_all, 'passage')}: {likeliest}{'; '.join(told)}."]


def _without(degraded: Sequence[str], omitted: str) -> list[str]:
    return [*(f"Without: {one}" for one in degraded), *([omitted] if omitted else [])]
