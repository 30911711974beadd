"""The answers to the parts of a question side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from thresher.answering.citations import beside, renumbered, same_place
from thresher.question.wording import SubQuestion
from thresher.types import Citation, Generation, Notes


def in_turn(answers: Sequence[tuple[SubQuestion, Generation]]) -> Generation:
    """The answers to the parts of a question side by side, each below its part; not all of them are abstentions.

    Nothing is concluded from them together. A passage that answers two parts is shown once.
    """
    given = [(part, one) for part, one in answers if not one.abstained]
    lines: list[str] = []
    citations: list[Citation] = []
    conflicts: list[tuple[int, int]] = []
    reported: list[dict[str, Any]] = []
    for part, one in answers:
        shown = {mine.marker: _marker(mine, citations) for mine in one.citations}
        if one.abstained:
            lines.append(f"Not answered: {part.text}")
        elif not one.citations or None in shown.values():
            shift = len(citations)
            lines.append(f"{part.text}\n{renumbered(one.text, one.citations, shift)}")
            shown = {mine.marker: mine.marker + shift for mine in one.citations}
            citations += [replace(citation, marker=citation.marker + shift) for citation in one.citations]
            conflicts += [(left + shift, right + shift) for left, right in one.conflicts]
        else:
            lines.append(f"{part.text} As above {''.join(f'[{marker}]' for marker in dict.fromkeys(shown.values()))}.")
        probability = None if one.certainty is None else round(one.certainty, 3)
        reported.append(
            {"question": part.text, "state": one.state, "probability": probability, "citations": [*shown.values()]}
        )
    notes = sum((one.notes for _, one in answers), Notes()) + Notes(facts={"parts": reported})
    others = [other for _, one in given for other in one.alternatives]
    return Generation(
        "\n".join(lines),
        tuple(citations),
        conflicts=tuple(conflicts),
        certainty=min(one.certainty or 0.0 for _, one in given),
        doubtful=any(one.doubtful for _, one in given),
        reason=next((f"{part.text} {one.reason}" for part, one in given if one.doubtful), None),
        notes=notes,
        exact=True,
        alternatives=beside(sorted(others, key=lambda one: -one.probability), citations),
    )


def _marker(citation: Citation, shown: Sequence[Citation]) -> int | None:
    """The marker of a place that is shown already; None for one that is not."""
    return next((other.marker for other in shown if same_place(citation, other)), None)
