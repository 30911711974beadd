"""A comparison in words, as JSON, as JUnit XML and as Markdown for a comment on a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from thresher.text.markup import flat, json_text
from thresher.tracing.explain import counted
from thresher_ci.comparison import FAILING, Difference, Kind
from thresher_ci.outcome import Place

LISTED: tuple[Kind, ...] = ("broken", "contradicted", "qualified", "newly answered", "moved")
"""In the order of the lists; `unchanged` is a count."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found."""

    against: str
    """What was compared with; empty for the expectations alone."""
    differences: tuple[Difference, ...]
    again: int
    """Questions that were answered again; the answers of the others were known."""
    seconds: float
    file: str
    """Of the expectations."""

    @property
    def failed(self) -> bool:
        """Whether an answer broke, or is contradicted or qualified now."""
        return any(one.kind in FAILING for one in self.differences)

    def of(self, kind: Kind) -> list[Difference]:
        """The differences of a kind, in the order of the file."""
        return [one for one in self.differences if one.kind == kind]

    @property
    def summary(self) -> str:
        """All counts in one line."""
        counts = Counter(one.kind for one in self.differences)
        listed = ", ".join(f"{counts[kind]} {kind}" for kind in (*LISTED, "unchanged"))
        never = sum(one.kind == "unchanged" and not one.met for one in self.differences)
        unmet = f" ({never} of them not as expected before either)" if never else ""
        asked = f"{self.again} of {counted(len(self.differences), 'question')} answered again"
        return f"{listed}{unmet}; {asked}, {self.seconds:.1f} s"

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `unchanged` is a count."""
        lists = {kind.replace(" ", "_"): [one.to_dict() for one in self.of(kind)] for kind in LISTED}
        counts = {"unchanged": len(self.of("unchanged")), "answered_again": self.again, "seconds": self.seconds}
        return {"against": self.against or None, "file": self.file, "passed": not self.failed, **lists, **counts}


def as_text(report: Report) -> str:
    """The lists for a terminal, each question with its line, its old and its new place."""
    lines: list[str] = []
    for kind in LISTED:
        if found := report.of(kind):
            lines.append(f"{kind} ({len(found)})")
            lines += [line for one in found for line in _lines(report, one)]
    return "\n".join([*lines, report.summary])


def _lines(report: Report, one: Difference) -> Iterator[str]:
    asker = f" (asked by {one.question.asked_by})" if one.question.asked_by else ""
    yield f"  {report.file}:{one.question.line}: {one.question.question}{asker}"
    if one.why:
        yield f"    {one.why}"
    for name, place in (("old", one.old), ("new", one.new)):
        if place is not None:
            yield f"    {name}: {_quoted(place)}"


def _quoted(place: Place) -> str:
    return f"“{flat(place.sentence)}” ({place})"


def as_json(report: Report) -> str:
    """One JSON document."""
    return json_text(report.to_dict())


def as_markdown(report: Report) -> str:
    """One comment for a pull request."""
    lines = [f"### Thresher: {'answers broke' if report.failed else 'no answer broke'}", "", report.summary]
    for kind in LISTED:
        if found := report.of(kind):
            lines += ["", f"**{kind.capitalize()}** ({len(found)})", ""]
            lines += [line for one in found for line in _items(one)]
    return "\n".join(lines)


def _items(one: Difference) -> Iterator[str]:
    why = f": {_escaped(one.why)}" if one.why else ""
    yield f"- {_escaped(one.question.question)}{why}"
    for name, place in (("old", one.old), ("new", one.new)):
        if place is not None:
            yield f"  - {name}: {_escaped(_quoted(place))}"


def _escaped(text: str) -> str:
    """Text of a document that Markdown shows as it is."""
    return "".join(f"\\{sign}" if sign in r"\`*_[]<>#|~@" else sign for sign in flat(text))


def as_junit(report: Report) -> str:
    """JUnit XML: a test case for each question, a failure for each that broke, or is contradicted or qualified."""
    failed = sum(one.kind in FAILING for one in report.differences)
    counts = {"tests": str(len(report.differences)), "failures": str(failed), "time": f"{report.seconds:.3f}"}
    suite = ElementTree.Element("testsuite", {"name": "thresher ci", **counts})
    for one in report.differences:
        where = {"classname": report.file, "file": report.file, "line": str(one.question.line)}
        case = ElementTree.SubElement(suite, "testcase", {"name": _printable(one.question.question), **where})
        if one.kind in FAILING:
            failure = ElementTree.SubElement(case, "failure", {"type": one.kind, "message": _printable(one.why)})
            places = (("old", one.old), ("new", one.new))
            failure.text = _printable("\n".join(f"{name}: {_quoted(place)}" for name, place in places if place))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _printable(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else " " for sign in text)


FORMATS = {"text": as_text, "json": as_json, "junit": as_junit, "markdown": as_markdown}
