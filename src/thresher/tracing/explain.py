"""An answer's trace as plain text, for `explain` and `Answer.explain()`: kept chunks first, dropped ones counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.text.markup import flat, one_line, plain, words
from thresher.types import Certified, ClaimState, State

__all__ = [
    "also",
    "assessment",
    "counted",
    "facts",
    "in_full",
    "marked_sentence",
    "picture",
    "shortened",
    "spent",
    "where",
]

WIDTH = 120
"""Characters of a line where no terminal says its own."""

FACT = 160
"""Characters of one fact of a step: a model may have written pages."""

IDLE_SECONDS = 0.001
"""A step that takes less and has no facts had nothing to do."""

SCORING = ("judge", "refine")
"""Slots whose score is that of one of their parts: it is shown only where no part gave the same."""

STALE: Mapping[str, str] = {"changed": "changed since it was indexed", "gone": "no longer there"}
"""What became of a cited file, in words."""

QUOTED = 100
"""Of a citation's quote: it stands whole in `--json`."""


def picture(
    answer: Mapping[str, Any],
    labels: Mapping[str, str],
    *,
    dropped: bool = False,
    scores: bool = False,
    width: int = WIDTH,
) -> str:
    """A stored answer with its steps and chunks, named by `labels`; `dropped` chunks and all `scores` on request."""
    steps = [step["name"] for step in answer["steps"]]
    chunks = sorted(
        answer["chunks"], key=lambda one: steps.index(one["dropped_by"]) if one["dropped_by"] in steps else -1
    )
    parts = [_head(answer), _steps(answer["steps"], width), _chunks(chunks, labels, dropped, scores, width)]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _head(answer: Mapping[str, Any]) -> list[str]:
    lines = [f"question  {answer['question']}", f"recipe    {answer['recipe']}"]
    if answer["verdict"]:
        lines.append(f"verdict   {answer['verdict']}{sureness(answer.get('confidence'), answer.get('certainty'))}")
    lines.append(f"answer    {plain(in_full(answer['text'], answer['reason']))}")
    lines += [f"        {citation_line(cited, answer['text'], QUOTED)}" for cited in answer["citations"]]
    lines += [f"        {line}" for line in also_lines(answer, QUOTED)]
    first, *others = sentence_lines(answer) or [""]
    lines += [f"sentences {first}", *(f"        {line}" for line in others)] if first else []
    if answer.get("certificate"):
        lines.append(f"promise   {Certified(**{'why': '', **answer['certificate']}).line}")
    lines += [f"conflict  [{one}] and [{other}] contradict each other" for one, other in answer["conflicts"]]
    lines += [f"without   {degradation}" for degradation in answer["degraded"]]
    usage = answer["usage"]
    if usage["hosts"]:
        hosts = ", ".join(usage["hosts"])
        lines.append(f"spent     {', '.join([*spent(usage), f'sent to {hosts}'])}")
        lines += [f"again     {why}: {counted(number, 'call')} sent again" for why, number in retries(usage).items()]
    return lines


def spent(usage: Mapping[str, Any]) -> list[str]:
    """What a question or several have used up, the money last; nothing that is zero."""
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    counts = {"web request": usage["web_requests"], "model call": usage["llm_calls"], "token": tokens}
    parts = [counted(number, what) for what, number in counts.items() if number]
    return [*parts, f"{usage['cost']:.2g} in money"] if usage.get("cost") else parts


def sentence_lines(answer: Mapping[str, Any]) -> list[str]:
    """How many sentences of a model's answer have each state, and each that is not supported, with its reason."""
    shown = answer.get("sentences", ()) if answer.get("answered_by") == "model" else ()
    written = [*shown, *answer.get("removed", ())]  # of a passage what it stands in place of
    counts = Counter(one["state"] for one in written)
    lines = [", ".join(f"{number} {state}" for state, number in counts.items())] if written else []
    for one in written:
        if not ClaimState(one["state"]).holds:
            removed = "" if one["end"] else ", removed"
            why = f" ({one['reason']})" if one.get("reason") else ""
            lines.append(f"  {one['state']}{removed}: “{one['text']}”{why}")
    return lines


def retries(usage: Mapping[str, Any]) -> Counter[str]:
    """Why calls were sent again, and how many."""
    return Counter(usage.get("retries", ()))


def _steps(steps: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    lines = [f"{'step':<9} {'in':>4} {'out':>4} {'ms':>8}"]
    idle = []
    for step in steps:
        if not (detail := facts(step["detail"])) and step["seconds"] < IDLE_SECONDS:
            idle.append(step["name"])
            continue
        counts = f"{step['considered']:>4} {step['kept']:>4} {step['seconds'] * 1000:>8.1f}"
        lines.append(shortened_line(f"{step['name']:<9} {counts}  {detail}", width))
    return [*lines, f"nothing to do: {', '.join(idle)}"] if idle else lines


def _chunks(
    chunks: Sequence[Mapping[str, Any]], labels: Mapping[str, str], dropped: bool, scores: bool, width: int
) -> list[str]:
    kept = [chunk for chunk in chunks if chunk["kept"]]
    others = [chunk for chunk in chunks if not chunk["kept"]]
    lines = [f"chunks: {len(kept)} kept of {len(chunks)}"]
    lines += [_fate(chunk, labels, scores, width) for chunk in (*kept, *(others if dropped else ()))]
    if others and not dropped:
        slots = Counter(chunk["dropped_by"] for chunk in others).items()
        lines.append(f"dropped by {', '.join(f'{slot}: {number}' for slot, number in slots)}; `--all` lists them")
    return lines


def _fate(chunk: Mapping[str, Any], labels: Mapping[str, str], scores: bool, width: int) -> str:
    fate = f"{'kept' if chunk['kept'] else 'dropped'}{', outside' if chunk['origin'] == 'outside' else ''}"
    why = chunk["reason"] if chunk["kept"] else f"{chunk['dropped_by']}: {chunk['reason']}"
    values = {name: score["value"] for name, score in chunk["scores"].items()} if scores else {}
    parts = [value for name, value in values.items() if name not in SCORING]
    own = {name: value for name, value in values.items() if name not in SCORING or value not in parts}
    numbers = [f"{name} {value:.3f}" for name, value in own.items()]
    place = where(chunk["source"], chunk["page"])
    columns = [fate.ljust(7), labels.get(chunk["id"], "").ljust(11), place, *numbers, why, flat(chunk["text"])]
    return shortened_line("  ".join(filter(None, columns)), width)


def in_full(text: str, reason: str | None) -> str:
    """A text with the reason for a refusal or a doubt; that of a refusal may begin with the text already."""
    if not reason:
        return text
    return reason if reason.startswith(text) else f"{text}\nWhy: {reason}"


def facts(detail: Mapping[str, Any]) -> str:
    """What a step says about itself: measures of 0 too, but no counts of nothing; texts, ids and tables by number."""
    if "search" in detail and detail["search"] == detail.get("question"):
        return ""  # searched for as it was asked
    return ", ".join(filter(None, (_fact(key, value) for key, value in detail.items())))


def _fact(key: str, value: Any) -> str:
    """A fact in few characters; nothing for one that says nothing."""
    match value:
        case {"removed": removed, "total": total}:
            return f"redundant {removed} of {total}"
        case Mapping():
            inner = {name: one for name, one in value.items() if one and isinstance(one, int | float)}
            if all(isinstance(one, Mapping) for one in value.values()):  # stages, each with facts of its own
                return f"{key} {' + '.join(value)}" if value else ""
            return ", ".join(f"{key} {_fact(name, one)}" for name, one in inner.items() if _fact(name, one))
        case float():
            return f"{key} {value:.3f}"
        case _ if not value:
            return ""
        case bool():
            return f"{key} yes"
        case list() if isinstance(value[0], str | Mapping):
            return f"{key} {len(value)}"
        case list():
            return f"{key} {' + '.join(map(str, value))}"
        case _:
            return f"{key} {shortened(str(value), FACT)}"


def sureness(confidence: float | None, certainty: float | None) -> str:
    """How probable it is that the evidence suffices and that the answer is right, in brackets; nothing for neither."""
    opinions = (("that the evidence suffices", confidence), ("that the answer is right", certainty))
    sure = ", ".join(f"{what}: {value:.3f}" for what, value in opinions if value is not None)
    return f" (probability {sure})" if sure else ""


EVIDENCE_IN_WORDS = {
    "correct": "sufficient",
    "ambiguous": "in doubt",
    "unsure": "in doubt",
    "incorrect": "insufficient",
}
"""Verdicts on the evidence as people read them: "correct" over a wrong answer is read as a promise."""

VERY_PROBABLE = 0.9
"""Certainty from which an answer is called very probably right."""

NEARLY_ALL = 0.95
"""Certainty from which not one in ten such answers is wrong."""


def assessment(verdict: str | None, certainty: float | None, state: State = "answered") -> str:
    """How sure an answer is, else what the evidence is worth, on one line; "" for neither.

    >>> assessment("correct", 0.63)
    'Answer: probably right, as 6 of 10 such answers are'
    """
    if certainty is not None and state != "refused":
        number = "19 of 20" if certainty >= NEARLY_ALL else f"{max(1, round(10 * certainty))} of 10"
        if state == "doubtful":
            return f"Answer: in doubt, {number} such answers are right"
        probable = "very probably right" if certainty >= VERY_PROBABLE else "probably right"
        return f"Answer: {probable}, as {number} such answers are"
    return "" if verdict is None else f"Evidence: {EVIDENCE_IN_WORDS[verdict]}"


def citation_line(cited: Mapping[str, Any], answer: str, characters: int | None = None) -> str:
    """Marker and place of a citation, and its quote, cut to so many characters, unless the answer holds it already."""
    quote = flat(cited["quote"])
    looked_up = cited.get("locator") or (f"page {cited['page']}" if cited["page"] else "")  # older traces have none
    at = f", {looked_up}" if looked_up else ""
    place = f"  [{cited['marker']}] {where(cited['source'], None)}{at}, characters {cited['start']}-{cited['end']}"
    place += f" ({STALE[cited['stale']]})" if cited.get("stale") else ""
    held = words(quote) in words(answer)
    return place if held else f"{place}: “{quote if characters is None else shortened(quote, characters)}”"


def also(abstained: bool) -> str:
    """What stands above passages beside an answer, or below a refusal."""
    return "Nearest:" if abstained else "Also:"


def also_lines(answer: Mapping[str, Any], characters: int | None = None) -> list[str]:
    """The further passages that may answer, or the nearest ones, under a line that says so; nothing for none."""
    lines = [also(answer["abstained"])] if answer.get("alternatives") else []
    for one in answer.get("alternatives", ()):
        text = plain(one["text"]) if characters is None else shortened(flat(one["text"]), characters)
        lines += [f"  {text}", citation_line(one["citation"], one["text"], characters)]
    return lines


def marked_sentence(cited: Mapping[str, Any]) -> str:
    """Of a citation the sentence in which the answer stands, on one line; of one without a mark the quote."""
    start, end = cited.get("mark") or (cited["start"], cited["end"])
    return flat(cited["quote"][start - cited["start"] : end - cited["start"]])


def where(source: str, page: int | None) -> str:
    """Source and page on one line; a file below the folder one is in by its path from there."""
    place = one_line(source.removeprefix(f"{os.getcwd()}{os.sep}"))
    return f"{place}, page {page}" if page else place


def shortened(text: str, characters: int) -> str:
    """The beginning of a text, on one line."""
    return shortened_line(" ".join(text.split()), characters)


def shortened_line(line: str, characters: int) -> str:
    """The beginning of a line."""
    line = line.rstrip()
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def counted(number: int, what: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
