"""Values of simple formulas that a sheet holds without them: + - * / &, sums, means and joined texts of its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from thresher.structure.locators import column_number

Value = float | str
Place = tuple[int, int]  # row and column, from 1
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|\"(?P<text>(?:[^\"]|\"\")*)\"|(?P<name>[A-Z]+)(?=\()"
    r"|\$?(?P<column>[A-Z]{1,3})\$?(?P<row>\d{1,7})(?::\$?(?P<last>[A-Z]{1,3})\$?(?P<end>\d{1,7}))?|(?P<sign>[-+*/&(),]))"
)
MOST_CELLS = 100_000
"""Of a range, and of formulas that stand on each other."""
DEEPEST = 100
"""Formulas that stand on each other, and brackets in brackets."""


class NotComputed(Exception):
    """A formula that is more than this reads, or has no value."""


class Formulas:
    """The formulas of one sheet, and its values as they are stored."""

    def __init__(self, formulas: Mapping[Place, str], values: Mapping[Place, Value]) -> None:
        self._formulas = formulas
        self._values = dict(values)
        self._depth = self._read = 0

    def value(self, at: Place) -> Value | None:
        """The value of the formula of a cell; None where it cannot be computed."""
        try:
            return self._of(at)
        except (NotComputed, ZeroDivisionError, OverflowError):
            self._depth = 0
            return None

    def _of(self, at: Place) -> Value:
        if at in self._formulas and at not in self._values:
            self._depth += 1
            if self._depth > DEEPEST:
                raise NotComputed
            tokens = list(_tokens(self._formulas[at]))
            self._values[at] = self._joined(tokens)
            self._depth -= 1
            if tokens:
                raise NotComputed
        return self._values.get(at, "")

    def _joined(self, tokens: list[re.Match[str]]) -> Value:
        left = self._sum(tokens)
        while _next(tokens, "&"):
            left = _text(left) + _text(self._sum(tokens))
        return left

    def _sum(self, tokens: list[re.Match[str]]) -> Value:
        left = self._product(tokens)
        while sign := _next(tokens, "+-"):
            right = _number(self._product(tokens))
            left = _number(left) + (right if sign == "+" else -right)
        return left

    def _product(self, tokens: list[re.Match[str]]) -> Value:
        left = self._operand(tokens)
        while sign := _next(tokens, "*/"):
            right = _number(self._operand(tokens))
            left = _number(left) * right if sign == "*" else _number(left) / right
        return left

    def _operand(self, tokens: list[re.Match[str]]) -> Value:
        if _next(tokens, "-"):
            return -_number(self._operand(tokens))
        if _next(tokens, "("):
            self._depth += 1
            if self._depth > DEEPEST:
                raise NotComputed
            inner = self._joined(tokens)
            self._depth -= 1
            if not _next(tokens, ")"):
                raise NotComputed
            return inner
        if not tokens:
            raise NotComputed
        token = tokens.pop(0)
        if token["number"]:
            return float(token["number"])
        if token["text"] is not None:
            return token["text"].replace('""', '"')
        if token["name"]:
            return self._called(token["name"], tokens)
        if token["row"] and not token["end"]:
            return self._of((int(token["row"]), column_number(token["column"])))
        raise NotComputed

    def _called(self, name: str, tokens: list[re.Match[str]]) -> Value:
        given: list[Value] = []
        _next(tokens, "(")
        while True:
            if tokens and tokens[0]["end"]:
                given += self._range(tokens.pop(0))
            else:
                given.append(self._joined(tokens))
            if not _next(tokens, ","):
                break
        if not _next(tokens, ")"):
            raise NotComputed
        if any(str(one).startswith("#") for one in given):  # an error
            raise NotComputed
        numbers = [one for one in given if isinstance(one, float)]
        match name:
            case "SUM":
                return float(sum(numbers))
            case "AVERAGE" if numbers:
                return sum(numbers) / len(numbers)
            case "CONCATENATE" | "CONCAT":
                return "".join(map(_text, given))
        raise NotComputed

    def _range(self, token: re.Match[str]) -> list[Value]:
        rows = range(int(token["row"]), int(token["end"]) + 1)
        columns = range(column_number(token["column"]), column_number(token["last"]) + 1)
        self._read += len(rows) * len(columns)
        if self._read > MOST_CELLS:
            raise NotComputed
        return [self._of(at) for at in product(rows, columns)]


def _tokens(formula: str) -> Iterator[re.Match[str]]:
    at, formula = 0, formula.strip()
    while at < len(formula):
        if (found := _TOKEN.match(formula, at)) is None:
            raise NotComputed
        yield found
        at = found.end()


def _next(tokens: list[re.Match[str]], signs: str) -> str:
    """The next token if it is one of these signs, taken; else ""."""
    sign = tokens[0]["sign"] if tokens else None
    return tokens.pop(0)["sign"] if sign and sign in signs else ""


def _number(value: Value) -> float:
    if isinstance(value, str):
        if value:
            raise NotComputed
        return 0.0  # an empty cell
    return value


def _text(value: Value) -> str:
    return value if isinstance(value, str) else format(value, ".15g")
