"""What each rule of `thresher.recipes.rules` wins and loses: the sets of the gate, asked with it and without.

    python -m benchmarks.quality --worth                                     all sets, all rules; the page and its rows
    python -m benchmarks.quality.worth --sets lookalikes tables              some sets; their rows are stored
    python -m benchmarks.quality.worth --sets squad --rules what_is cells    some rules; printed alone

Off means: in every loaded module the function gives way to one that returns what it returns where its rule has nothing
to do. A rule speaks to a question where its function returned something else while all rules were on; where it did not,
switching it off changes nothing, so only the questions that it speaks to are asked again, alone, with the others of its
kind, and with all. Readings of the networks, which are made of one text at a time, are remembered, so they are the same
in each round. At the end all is on again and every question is asked once more: a row that then differs is noise, and
is told. Conversations are asked whole. `tables` are the questions of `benchmarks.table_cells`, asked of the table rules
alone. What bounds the sentences of a chat model no set asks for (`benchmarks.checker` does).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from inspect import isgenerator
from pathlib import Path
from typing import Any

from benchmarks import conversations, table_cells
from benchmarks.conversations.__main__ import conversations as of_part
from benchmarks.machine import CACHE, ROOT, keep, kept
from benchmarks.quality.asking import outcome
from benchmarks.quality.rows import Row, row_of
from benchmarks.quality.sets import NEEDED, SETS
from benchmarks.questions.rules import Mark, Question
from benchmarks.seeds.rows import Provenance
from benchmarks.seeds.sections import Cell, table
from benchmarks.stale import ANSWERS, footing
from thresher.question.intent import intent_of
from thresher.recipes.rules import RULES, Rule

PAGE = ROOT / "docs" / "results" / "worth.md"
COMMAND = "python -m benchmarks.quality --worth"
OF = (*ANSWERS, "src/thresher/verification", "src/thresher/collection/asking.py", "benchmarks/quality/worth.py")

CONVERSATIONS, TABLES = "conversations", "tables"
EVERY = (*SETS, CONVERSATIONS, TABLES)
READINGS = 10**6
"""That are remembered: those of all sets."""

Off = Mapping[str, Sequence[Rule]]
"""Rules that are switched off together, by what they are called: a rule, all of a kind, all."""


# --- switched off -----------------------------------------------------------------------------------------------------


def function_at(place: str) -> Callable[..., Any]:
    """The function of a place."""
    module, _, name = place.partition(":")
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


@contextmanager
def replaced(others: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Other functions in the places, wherever a module has the function; each must be an object of its own."""
    originals = {place: function_at(place) for place in others}
    for place, other in others.items():
        _put(place, originals[place], other)
    intent_of.cache_clear()
    try:
        yield
    finally:
        intent_of.cache_clear()
        for place, other in others.items():
            _put(place, other, originals[place])


def _put(place: str, one: Callable[..., Any], other: Callable[..., Any]) -> None:
    module, _, name = place.partition(":")
    of_class, _, method = name.rpartition(".")
    if of_class:
        setattr(getattr(import_module(module), of_class), method, other)
        return
    for loaded in [found for called, found in sys.modules.items() if called.startswith(("thresher", "benchmarks."))]:
        for at in [at for at, value in vars(loaded).items() if value is one]:
            setattr(loaded, at, other)


@contextmanager
def switched_off(rules: Iterable[Rule]) -> Iterator[None]:
    """The engine without some rules."""

    def without(rule: Rule) -> Callable[..., Any]:
        return lambda *given, **named: rule.without(*given, **named)

    with replaced({place: without(rule) for rule in rules for place in rule.places}):
        yield


@contextmanager
def heard(rules: Iterable[Rule], spoke: Callable[[Rule], None]) -> Iterator[None]:
    """The engine as it is; `spoke` is called where a function returns something else than without its rule."""

    def listening(rule: Rule, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            result = function(*given, **named)
            whole = list(result) if isgenerator(result) else result
            if not _same(whole, rule.without(*given, **named)):
                spoke(rule)
            return iter(whole) if isgenerator(result) else whole

        return called

    with replaced({place: listening(rule, function_at(place)) for rule in rules for place in rule.places}):
        yield


def _same(one: Any, other: Any) -> bool:
    """Whether what uses two results cannot tell them apart: equal, or sequences of the same."""
    if isinstance(one, (bool, str)) or one is None or other is None:
        return type(one) is type(other) and bool(one == other)
    if isinstance(other, Iterator) or {type(one), type(other)} <= {list, tuple, set, frozenset}:
        return list(one) == list(other)
    return bool(one == other)


def remember_readings() -> None:
    """Keep what the networks read for the life of this process; before the first collection is opened."""
    from thresher.models import cross_encoders
    from thresher.models.encoders import BundledEncoder

    cross_encoders.REMEMBERED = READINGS
    known, encode = dict[str, Any](), BundledEncoder.encode_query

    def encoded(self: BundledEncoder, text: str) -> Any:
        if text not in known:
            known[text] = encode(self, text)
        return known[text]

    setattr(BundledEncoder, "encode_query", encoded)  # noqa: B010


# --- asked ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question, and what was shown."""

    row: Row
    shown: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """For people."""
        return f"{self.row.state}, marked {self.row.marked}, first {self.row.first}"

    @property
    def is_first_right(self) -> bool:
        """Whether the whole first passage states the answer."""
        return self.row.answerable and self.row.first == Mark.RIGHT

    def differs(self, other: Asked) -> bool:
        """Whether a person sees something else."""
        return (self.row.state, self.shown) != (other.row.state, other.shown)


Turns = Sequence[Question]
"""A question, or those of a conversation, which one collection is asked in turn."""


def given(name: str) -> tuple[Mapping[str, Sequence[Path]], list[Turns]]:
    """What is indexed for a set, by collection, and what is asked."""
    if name != CONVERSATIONS:
        found = SETS[name]()
        return found.sources, [(one,) for one in found.questions]
    asked = [
        [
            Question(
                id=f"conversation-{number}-{at}",
                collection=CONVERSATIONS,
                kind=turn.kind,
                question=turn.question,
                answerable=turn.expected is not None,
                expected=((turn.expected,),) if turn.expected else (),
            )
            for at, turn in enumerate(turns, start=1)
        ]
        for number, turns in enumerate(of_part("all"), start=1)
    ]
    assert conversations.__file__ is not None
    return {CONVERSATIONS: [Path(conversations.__file__).parent / "documents"]}, list(asked)


def answers(name: str, collection: Any, turns: Turns, begin: Callable[[], object] = lambda: None) -> list[Asked]:
    """What comes of the questions of a conversation; `begin` is called before each."""
    history, found = list[Any](), list[Asked]()
    for question in turns:
        begin()
        history.append(answer := collection.ask(question.question, history=tuple(history)))
        told = outcome(answer.to_dict(chunks=True))
        found.append(Asked(row_of(name, question, told), tuple(told["shown"])))
    return found


# --- counted ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Worth:
    """What the rows of a set come to with a rule, beside without it."""

    spoke: int = 0
    """Questions to which the function returned something else than without its rule."""
    changed: int = 0
    """Rows with another text or state."""
    marked_won: int = 0
    """Of the sentence or cell that is read first: right with the rule alone."""
    marked_lost: int = 0
    first_won: int = 0
    """The same of the whole first passage."""
    first_lost: int = 0
    wrong_spared: int = 0
    """Said, and wrong where it is read, without the rule alone; of a question without an answer, all that is said."""
    wrong_caused: int = 0
    doubted: int = 0
    """Right answers that are said without the rule, and in doubt with it."""

    def count(self, on: Asked, off: Asked) -> None:
        """Count a question."""
        with_, without = on.row, off.row
        self.changed += on.differs(off)
        self.marked_won += with_.is_right and not without.is_right
        self.marked_lost += without.is_right and not with_.is_right
        self.first_won += on.is_first_right and not off.is_first_right
        self.first_lost += off.is_first_right and not on.is_first_right
        self.wrong_spared += without.is_said_wrong and not with_.is_said_wrong
        self.wrong_caused += with_.is_said_wrong and not without.is_said_wrong
        self.doubted += without.is_right and without.is_said and with_.state == "doubtful"

    def __add__(self, other: Worth) -> Worth:
        return Worth(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def off_together(rules: Sequence[Rule]) -> Off:
    """Each rule alone, the rules of each kind, and all."""
    kinds = {rule.kind: f"all that {rule.kind.replace('vetoes', 'vetos')[:-1]}" for rule in rules}
    together = {called: [rule for rule in rules if rule.kind == kind] for kind, called in kinds.items()}
    return {**{rule.name: [rule] for rule in rules}, **together, "all": rules}


def asked(name: str, rules: Sequence[Rule], home: str) -> dict[str, Any]:
    """The worth of each rule on a set, and the rows that differ."""
    import thresher

    sources, conversations = given(name)
    opened = {}
    for called, paths in sources.items():
        opened[called] = thresher.open(home, called)
        opened[called].add(*map(str, paths))

    def ask(turns: Turns, begin: Callable[[], object] = lambda: None) -> list[Asked]:
        return answers(name, opened[turns[0].collection], turns, begin)

    on, spoke = list[list[Asked]](), list[list[set[str]]]()
    with heard(rules, lambda rule: spoke[-1][-1].add(rule.name)):
        for turns in conversations:
            spoke.append([])
            on.append(ask(turns, lambda: spoke[-1].append(set())))
    found, differing = dict[str, Worth](), list[dict[str, str]]()
    for called, off in off_together(rules).items():
        names = {rule.name for rule in off}
        spoken = [at for at, turns in enumerate(spoke) if any(names & those for those in turns)]
        found[called] = Worth(spoke=sum(bool(names & those) for turns in spoke for those in turns))
        for at in spoken:
            with switched_off(off):
                again = ask(conversations[at])
            for one, other in zip(on[at], again, strict=True):
                found[called].count(one, other)
                if one.differs(other):
                    differing.append({
                        "without": called, "id": one.row.id, "with": one.outcome, "then": other.outcome,
                    })  # fmt: skip
    noise = sum(
        one.differs(other)
        for before, turns in zip(on, conversations, strict=True)
        for one, other in zip(before, ask(turns), strict=True)
    )
    for collection in opened.values():
        collection.close()
    every = [one.row for each in on for one in each]
    return {
        "made": vars(Provenance.now()),
        "asked": len(every),
        "answerable": sum(row.answerable for row in every),
        "marked": sum(row.is_right for row in every),
        "noise": noise,
        "worth": {called: asdict(one) for called, one in found.items()},
        "rows": differing,
    }


def of_tables(rules: Sequence[Rule]) -> dict[str, Any]:
    """What the table rules answer, and what they do without each of them."""
    sets = {name: list(table_cells.rows_of(name)) for name in table_cells.SETS}
    of_cells = [rule for rule in rules if all(place.startswith("thresher.structure.") for place in rule.places)]
    spoke = set[str]()
    with heard(of_cells, lambda rule: spoke.add(rule.name)):
        on = {name: table_cells.by_rules(rows) for name, rows in sets.items()}
    without = dict[str, dict[str, Counter[str]]]()
    for rule in of_cells:
        if rule.name in spoke:
            with switched_off([rule]):
                without[rule.name] = {name: table_cells.by_rules(rows) for name, rows in sets.items()}
    return {"made": vars(Provenance.now()), "on": on, "without": without}


# --- told -------------------------------------------------------------------------------------------------------------

OPENING = """# What each rule is worth

<!-- Made by `python -m benchmarks.quality --worth`; do not edit. -->

Every rule that proposes, vetoes, lifts, reorders or rewords stands in `src/thresher/recipes/rules.py`. Each was
switched off alone, with the others of its kind, and with all, and the sets of the gate were asked again without a
chat model. *Speaks* counts the questions to which the function of the rule returns something else than its stand-in;
*rows* those whose text or state differs. *Marked* is the sentence in bold or the cell, *first* the whole first
passage: +won by the rule, -lost by it. *Said and wrong* counts answers that are not in doubt: spared by the rule,
caused by it. *Doubted* are right answers that the rule puts in doubt."""

HEADER = ["rule", "kind", "since", "speaks", "rows", "marked", "first", "said and wrong: spared / caused", "doubted"]
COUNTS = ("right", "wrong", "refused", "refused, no answer there", "answered, no answer there")


def markdown(stored: Mapping[str, Any]) -> str:
    """The page, from what is stored."""
    sets = {name: stored[name] for name in EVERY if name in stored and name != TABLES}
    parts = [OPENING, *told(sets)]
    if TABLES in stored:
        parts += tables_told(stored[TABLES])
    oldest = min((stored[name]["made"] for name in EVERY if name in stored), key=lambda made: str(made["date"]))
    return "\n\n".join([*parts, footing(oldest["commit"], oldest["date"], COMMAND, OF)]) + "\n"


def told(sets: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The table of all sets together, and of each."""
    worth = {
        name: {called: Worth(**counts) for called, counts in stored["worth"].items()} for name, stored in sets.items()
    }
    called = dict.fromkeys(one for each in worth.values() for one in each)
    together = {one: sum((each[one] for each in worth.values() if one in each), Worth()) for one in called}
    asked, noise = (sum(stored[key] for stored in sets.values()) for key in ("asked", "noise"))
    if len(sets) > 1:
        yield f"## All sets\n\n{asked} questions; {noise} rows differ where nothing is switched off."
        yield _table(together)
    for name, stored in sets.items():
        yield (
            f"## {name}\n\n{stored['asked']} questions, of {stored['answerable']} with an answer {stored['marked']} "
            f"marked right; {stored['noise']} rows differ where nothing is switched off."
        )
        yield _table(worth[name])
    still = [one for one, counts in together.items() if not counts.changed]
    silent = [one for one in still if not together[one].spoke]
    yield "## Without effect"
    yield f"Speak and change no row: {_listed(one for one in still if one not in silent)}."
    yield f"Speak to no question: {_listed(silent)}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _table(worth: Mapping[str, Worth]) -> str:
    """What changes a row, in the order of the list."""
    rules = {rule.name: rule for rule in RULES}
    lines = list[list[Cell]]()
    for called, one in worth.items():
        if one.changed:
            rule = rules.get(called)
            name, kind, since = (f"`{called}`", rule.kind, rule.since) if rule is not None else (called, "", "")
            lines.append([
                name, kind, since, one.spoke, one.changed, f"+{one.marked_won} -{one.marked_lost}",
                f"+{one.first_won} -{one.first_lost}", f"{one.wrong_spared} / {one.wrong_caused}", one.doubted,
            ])  # fmt: skip
    return table(HEADER, lines) if lines else "No rule changes a row."


def tables_told(stored: Mapping[str, Any]) -> Iterator[str]:
    """The questions to tables, as the table rules alone answer them."""
    yield "## Tables"
    yield (
        "Questions of WikiTableQuestions and TAT-QA for one cell, asked of the table rules alone "
        "(`benchmarks.table_cells`): what they say, and the difference without each rule."
    )
    on: Mapping[str, Mapping[str, int]] = stored["on"]

    def counts(of: Mapping[str, Mapping[str, int]]) -> list[int]:
        return [sum(counted.get(key, 0) for counted in of.values()) for key in COUNTS]

    lines: list[list[Cell]] = [["with all", *counts(on)]]
    still = list[str]()
    for name, without in stored["without"].items():
        less = [f"{other - one:+}" for one, other in zip(counts(on), counts(without), strict=True)]
        if without == on:
            still.append(name)
        else:
            lines.append([f"without `{name}`", *less])
    yield table(["table rules", *COUNTS], lines)
    yield f"Speak and change nothing: {_listed(still)}."


def main(sets: Sequence[str] = EVERY, rules: Sequence[Rule] = RULES) -> int:
    """Ask, print, and, with all rules, store the rows; the page is written once all sets are stored."""
    remember_readings()
    home, found = str(CACHE / "quality" / ROOT.name), dict[str, Any]()
    for name in sets:
        if name in NEEDED and not NEEDED[name].is_dir():
            print(f"{name}: left out, {NEEDED[name]} is not there")
            continue
        found[name] = of_tables(rules) if name == TABLES else asked(name, rules, home)
        shown = tables_told(found[name]) if name == TABLES else told({name: found[name]})
        print(*shown, sep="\n\n", flush=True)
        if len(rules) == len(RULES):
            keep("worth", {**kept("worth", folder=CACHE), name: found[name]}, folder=CACHE)
    stored = kept("worth", folder=CACHE)
    if len(rules) == len(RULES) and all(name in stored for name in EVERY):
        PAGE.write_text(markdown(stored), encoding="utf-8")
        print(PAGE.relative_to(ROOT))
    return 0


def chosen(arguments: Sequence[str] | None = None) -> int:
    """`main`, of what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=EVERY, default=list(EVERY))
    parser.add_argument("--rules", nargs="+", choices=[rule.name for rule in RULES], metavar="RULE")
    options = parser.parse_args(arguments)
    return main(options.sets, [rule for rule in RULES if options.rules is None or rule.name in options.rules])


if __name__ == "__main__":
    sys.exit(chosen())
