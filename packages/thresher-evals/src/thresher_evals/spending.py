"""The cost of a run: number of answers and models before it starts; calls, tokens and money while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thresher.cli.options import host_of
from thresher.cli.output import counting
from thresher.tracing.explain import counted, spent
from thresher_evals.rows import Row

SPENT = ("llm_calls", "prompt_tokens", "completion_tokens", "web_requests", "cost")
"""Additive fields of `Usage`."""


def before(questions: int, settings: Mapping[str, Mapping[str, Any]]) -> str:
    """The number of answers of a run and its chat models; `settings` by recipe."""
    recipes = counted(len(settings), "recipe")
    answers = f"{counted(questions * len(settings), 'answer')}: {counted(questions, 'question')} to {recipes}"
    models = dict.fromkeys(
        f"{one['llm.model']} at {host_of(str(one.get('llm.base_url')))}"
        for one in settings.values()
        if one.get("llm.model")
    )
    if not models:
        return f"{answers}; no chat model is configured, so no tokens are spent"
    keys = ("llm.price_prompt", "llm.price_completion")
    priced = any(one.get(key) is not None for one in settings.values() for key in keys)
    unpriced = "" if priced else f"; set {' and '.join(keys)} to see money"
    return f"{answers}; the chat model is {', '.join(models)}{unpriced}"


class Spending:
    """The cost of a run's rows so far, and an estimate for all of them."""

    def __init__(self, questions: int, recipes: Sequence[str]) -> None:
        """`questions` are asked of each of the `recipes`."""
        self.answers = questions * len(recipes)
        self._questions = questions
        self._rows = Counter(dict.fromkeys(recipes, 0))
        self._spent: dict[str, Counter[str]] = {recipe: Counter() for recipe in recipes}

    def add(self, row: Row) -> None:
        """Add a row."""
        self._rows[row.recipe] += 1
        if row.reply is not None:
            self._spent[row.recipe].update({name: getattr(row.reply.usage, name) or 0 for name in SPENT})

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows.total()

    def __str__(self) -> str:
        """`spent: 12 model calls, 3400 tokens, 0.02 in money; about 0.1 in all`; empty if nothing was spent."""
        total: Counter[str] = sum(self._spent.values(), Counter())
        if not (parts := spent(total)):
            return ""
        whole: Counter[str] = Counter()
        for recipe, rows in self._rows.items():
            like, of = (self._spent[recipe], rows) if rows else (total, self.rows)
            whole.update({name: like[name] * self._questions / of for name in SPENT})
        whole = Counter({name: value if name == "cost" else round(value) for name, value in whole.items()})
        about = "" if self.rows == self.answers else f"; about {spent(whole)[-1]} in all"
        return f"spent: {', '.join(parts)}{about}"


@contextmanager
def asking(spending: Spending, out: Path) -> Iterator[Callable[[int], None]]:
    """Show progress and cost of a run into `out`; an interrupt reports what is kept and how to resume."""
    try:
        with counting(spending.answers, "answers", spending.__str__) as count:
            yield count
    except KeyboardInterrupt as interrupt:
        kept = f"{spending.rows} of {spending.answers} answers are kept (thresher eval score {out})"
        raise KeyboardInterrupt(f"{kept}; with --resume") from interrupt
