"""`knowledge.yaml`: questions, what is expected of each, and who asked for it. `knowledge.schema.json` is its schema.

questions:
  - question: How many days of leave does a new employee have?
    expect: {source: leave.md, quote: A new employee has 25 days of leave.}
    asked_by: Mara
  - question: What is the boiling point of gallium?
    expect: refused
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from thresher.errors import UsageError

SCHEMA = Path(__file__).with_name("knowledge.schema.json")

REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of an answer: words of a source, a value, or a refusal (neither)."""

    quote: str = ""
    source: str = ""
    """Path below the folder of documents; empty for any document."""
    value: str = ""

    @property
    def is_refusal(self) -> bool:
        """Whether the question is to be refused."""
        return not (self.quote or self.value)

    def to_yaml(self) -> str | dict[str, str]:
        """As it stands in the file."""
        named = {"source": self.source, "quote": self.quote, "value": self.value}
        return REFUSED if self.is_refusal else {name: text for name, text in named.items() if text}


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of the file."""

    question: str
    expected: Expected
    line: int = 0
    recipe: str = ""
    """Empty for the recipe of the run."""
    asked_by: str = ""

    @property
    def key(self) -> str:
        """Equal for questions that a file may have once only."""
        return " ".join(self.question.casefold().split())

    def to_yaml(self) -> dict[str, Any]:
        """As it stands in the file."""
        named = {"recipe": self.recipe, "asked_by": self.asked_by}
        given = {name: text for name, text in named.items() if text}
        return {"question": self.question, "expect": self.expected.to_yaml(), **given}


def read(file: Path) -> list[Question]:
    """The questions of a file, in its order. Raises UsageError that names the line."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        what = error.strerror or "cannot be read"
        raise UsageError(what, subject=str(file), next_step="write one, see docs/ci.md") from error
    except UnicodeDecodeError as error:
        raise UsageError("is no text in UTF-8", subject=str(file)) from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"is no YAML: {error.problem}", subject=f"{file}, line {line}") from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", subject=str(file)) from error
    return list(_Reader(file).questions(node))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the nodes of one file: they know their lines."""

    file: Path

    def questions(self, node: yaml.Node | None) -> Iterator[Question]:
        """Each entry; a question that stands twice is refused with both lines."""
        top = self._fields(node, {"questions"}, "the file")
        entries = top.get("questions")
        if not isinstance(entries, yaml.SequenceNode) or not entries.value:
            raise self._wrong(entries or node, '"questions" must be a list with one question at least')
        lines: dict[str, int] = {}
        for entry in entries.value:
            question = self._question(entry)
            if question.key in lines:
                line = lines[question.key]
                raise self._wrong(entry, f"the question stands in line {line} already: {question.question}")
            lines[question.key] = question.line
            yield question

    def _question(self, node: yaml.Node) -> Question:
        fields = self._fields(node, {"question", "expect", "recipe", "asked_by"}, "a question")
        for name in ("question", "expect"):
            if name not in fields:
                raise self._wrong(node, f'"{name}" is missing')
        texts = {name: self._text(name, one) for name, one in fields.items() if name != "expect"}
        return Question(expected=self._expected(fields["expect"]), line=_line(node), **texts)

    def _expected(self, node: yaml.Node) -> Expected:
        if isinstance(node, yaml.ScalarNode):
            if node.value != REFUSED:
                wanted = f"it must be {REFUSED}, a source and a quote, or a value"
                raise self._wrong(node, f"\"expect\" is '{node.value}'; {wanted}")
            return Expected()
        fields = self._fields(node, {"source", "quote", "value"}, '"expect"')
        if ("quote" in fields) == ("value" in fields):
            raise self._wrong(node, '"expect" must have either a "quote", with its "source", or a "value"')
        if "quote" in fields and "source" not in fields:
            raise self._wrong(node, '"source" is missing beside "quote"')
        return Expected(**{name: self._text(name, one) for name, one in fields.items()})

    def _fields(self, node: yaml.Node | None, known: set[str], what: str) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(node, f"{what} must have the fields {', '.join(sorted(known))}")
        fields: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value not in known:
                raise self._wrong(key, f'unknown field "{key.value}" of {what}; there are: {", ".join(sorted(known))}')
            if key.value in fields:
                raise self._wrong(key, f'"{key.value}" stands twice')
            fields[key.value] = value
        return fields

    def _text(self, name: str, node: yaml.Node) -> str:
        """A text, also one that YAML would take for a number: `value: 25` means the words."""
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            raise self._wrong(node, f'"{name}" must be a text')
        return str(node.value).strip()

    def _wrong(self, node: yaml.Node | None, what: str) -> UsageError:
        return UsageError(what, subject=f"{self.file}, line {_line(node)}")


def _line(node: yaml.Node | None) -> int:
    return 1 if node is None else node.start_mark.line + 1


def write(file: Path, questions: Sequence[Question]) -> None:
    """Append questions to a file, made where there is none, whole or not at all; what stands there stays as it is."""
    before = file.read_text(encoding="utf-8") if file.exists() else "questions:\n"
    listed = [question.to_yaml() for question in questions]
    added = yaml.safe_dump(listed, allow_unicode=True, sort_keys=False, width=120)
    indent = _indent(before)
    text = before if before.endswith("\n") else before + "\n"
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text + "".join(f"{indent}{line}\n" for line in added.splitlines()), encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", subject=str(file)) from error
    finally:
        beside.unlink(missing_ok=True)


def _indent(text: str) -> str:
    """The blanks before the entries of a file."""
    first = next((line for line in text.splitlines() if line.lstrip().startswith("- ")), "  - ")
    return first[: len(first) - len(first.lstrip())]
