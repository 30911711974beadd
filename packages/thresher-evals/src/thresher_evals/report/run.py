"""The head of a run: what was asked of what, on which machine, and how to make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from thresher import recipes
from thresher.errors import ThresherError
from thresher.settings import flat
from thresher_evals.metrics.answers import outcome
from thresher_evals.report.blocks import Cell, Folded, Measured, Section, Table
from thresher_evals.report.comparison import OURS, listed, probability, rivals_of, verdict
from thresher_evals.report.data import Block, Run, standing, successes
from thresher_evals.rows import Place, Row
from thresher_evals.runner import parse_variant

ENOUGH_FOR_HEADLINES, ENOUGH_FOR_ABLATIONS = 300, 100
"""Questions, or all there are (docs/methods.md, sizes)."""

TOLD_ELSEWHERE = {
    "dataset",
    "recipes",
    "settings",
    "limit",
    "outside",
    "seed",
    "together",
    "versions",
    "machine",
    "started",
}


def head(run: Run) -> Section:
    """The facts of run.json, warnings first."""
    dataset, described = run.dataset, run.described
    facts: dict[str, Any] = {
        "dataset": dataset["spec"],
        "kind, task": f"{dataset['kind']}, {dataset['task']}",
        "sha256 of its files": dataset["sha256"],
        "questions (n)": dataset["questions"],
        "of each category": ", ".join(f"{count} {name}" for name, count in dataset.get("categories", {}).items()),
        "how they were chosen": dataset.get("note"),
        "split, sample, seed": f"{dataset.get('split', 'all')}, {dataset.get('sample') or 'all'}, "
        f"{described.get('seed', 0)}",
        "results of a search": described["limit"],
        "looked outside in": described.get("outside", "none"),
        "asked": "question by question, every recipe in turn" if run.together else None,
        "generator": "; ".join(block.generator or "not told" for block in run.blocks),
        "machine": told(described.get("machine", {})),
        "versions": told(described.get("versions", {})),
        "started": described.get("started"),
        **{name: told(value) for name, value in described.items() if name not in TOLD_ELSEWHERE},
    }
    table = Table("What was run", ["", ""], [[name, str(fact)] for name, fact in facts.items() if fact])
    return Section(
        "What was run",
        [*warnings(run), f"To make it again: `{command(run)}`"],
        [table, *settings_table(run), *degradations(run)],
    )


def told(value: Any) -> str:
    """A value of run.json in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {told(item)}" for name, item in value.items() if item not in (None, "", {}, []))
    if isinstance(value, list | tuple):
        return ", ".join(told(item) for item in value)
    return str(value)


def warnings(run: Run) -> list[str]:
    """What keeps the numbers of a run from being evidence."""
    said = []
    dataset = run.dataset
    sample, n = dataset.get("sample"), dataset["questions"]
    available = dataset.get("available")
    if sample is not None and not (available and sample >= available):
        of = f" of {available}" if available else ""
        if n < ENOUGH_FOR_ABLATIONS:
            worth = "a smoke run, not evidence"
        elif n < ENOUGH_FOR_HEADLINES:
            worth = f"a sample, enough for ablations and not for a headline, which takes {ENOUGH_FOR_HEADLINES}"
        else:
            worth = "a sample"
        said.append(f"--sample {sample}{of}: {worth}. n = {n}.")
    elif dataset.get("limit_questions"):
        said.append(f"Only the first {dataset['limit_questions']} questions were asked. n = {n}.")
    elif n < ENOUGH_FOR_ABLATIONS:
        said.append(f"These are all the questions of the dataset, and few: n = {n}.")
    said += [
        f"Unfinished: {recipe} has {asked} of {n} questions. Its numbers are of those."
        for recipe, asked in run.asked.items()
        if asked < n
    ]
    if len(run.blocks) > 1:
        said.append("The answers have different generators: they stand in blocks of their own and are not compared.")
    return said


def degradations(run: Run) -> Iterator[Table]:
    """What recipes had to do without, once for each lack; nothing where they had everything."""
    lacking: dict[str, list[str]] = {}
    for recipe, lacks in run.degraded.items():
        for lack in lacks:
            lacking.setdefault(lack, []).append(recipe)
    if lacking:
        yield Table("Done without", ["what", "by"], [[lack, ", ".join(of)] for lack, of in sorted(lacking.items())])


def command(run: Run) -> str:
    """The command line that asks the same again."""
    dataset, described = run.dataset, run.described
    if isinstance(described.get("command"), str):
        return str(described["command"])
    options: dict[str, Any] = {
        "--limit": described["limit"],
        "--split": None if dataset.get("split", "all") == "all" else dataset["split"],
        "--sample": dataset.get("sample"),
        "--seed": described.get("seed") or None,
        "--outside": described.get("outside"),
        "--collection": collection_of(run),
        "--out": run.name,
    }
    named = " ".join(f"--recipe {quote(recipe)}" for recipe in described["recipes"])
    given = " ".join(f"{name} {quote(str(value))}" for name, value in options.items() if value is not None)
    given += " --together" if run.together else ""
    return f"thresher eval run --dataset {quote(dataset['spec'])} {named} {given}"


def collection_of(run: Run) -> str | None:
    """The collection that was asked, where run.json tells it."""
    found = run.described.get("collection")
    if isinstance(found, Mapping):
        found = found.get("name")
    return found if isinstance(found, str) else None


def settings_table(run: Run) -> Iterator[Table]:
    """The settings that are not the recipe's defaults; nothing where all are."""
    rows: list[list[Cell]] = []
    for recipe, settings in run.described["settings"].items():
        defaults = defaults_of(recipe)
        rows += [
            [recipe, name, told(value), told(defaults[name])]
            for name, value in settings.items()
            if name in defaults and as_json(defaults[name]) != as_json(value)
        ]
    if rows:
        yield Table("Settings that are not the default", ["recipe", "setting", "value", "default now"], rows)


def as_json(value: Any) -> Any:
    """A default as JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value


def defaults_of(recipe: str) -> Mapping[str, Any]:
    """The settings of a recipe as they are when nothing is set; none for a recipe that is no longer there."""
    try:
        found = recipes.get(parse_variant(recipe).recipe)
    except ThresherError:
        return {}
    return flat(found.settings())


# --- question by question: what a recipe gained and lost against the baseline, and where to see why -------------------


SHOWN = 10
"""Questions of each side on the page, where nothing else is said."""

LONGEST = 240
"""Characters of what a recipe said that are shown: two sentences or so; the file and the trace have all."""

LISTED = 5
"""Entries of a ranking, and citations, that are shown: as many as an answer is written from."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question that came out otherwise: the rows of both recipes, and the measure's number before and after."""

    recipe: str
    baseline: str
    generator: str
    measure: str
    before: float
    after: float
    first: Row
    second: Row
    outcomes: tuple[str, str]

    @property
    def gained(self) -> bool:
        """Whether the recipe is better than the baseline here."""
        return self.after > self.before

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of changes/RUN.jsonl."""
        question = self.second.question
        return {
            "id": question.id,
            "question": question.question,
            "answers": list(question.answers),
            "category": question.category,
            "recipe": self.recipe,
            "baseline": self.baseline,
            "generator": self.generator,
            "measure": self.measure,
            "gained": self.gained,
            "before": self.before,
            "after": self.after,
            self.baseline: described(self.first, self.outcomes[0]),
            self.recipe: described(self.second, self.outcomes[1]),
        }


def described(row: Row, outcome: str) -> dict[str, Any]:
    """What one recipe said."""
    reply = row.reply
    return {
        "outcome": outcome,
        "text": None if reply is None else reply.text,
        "verdict": None if reply is None else reply.verdict,
        "citations": [place.source for place in ([] if reply is None else reply.citations)],
        "ranking": [place.source for place in (row.ranking or ())[:LISTED]],
        "error": row.error,
        "trace": None if reply is None else reply.trace,
    }


def changes(block: Block) -> Iterator[Change]:
    """Every question that changed, recipe by recipe, in the order of the baseline's rows."""
    first = judged(block, block.baseline)
    for recipe in block.others:
        second = judged(block, recipe)
        for id, (row, before, came) in first.items():
            if id not in second:
                continue
            other, after, became = second[id]
            if before is not None and after is not None and before != after:
                yield Change(
                    recipe, block.baseline, block.generator, block.primary, before, after, row, other, (came, became)
                )


def judged(block: Block, recipe: str) -> Mapping[str, tuple[Row, float | None, str]]:
    """Question id to row, number and outcome."""
    rows = block.rows[recipe]
    told = zip(rows, successes(rows, block.primary), strict=True)
    return {row.question.id: (row, value, str(outcome(row))) for row, value in told}


def change_sections(run: Run, block: Block, shown: int = SHOWN, *, file: bool = False) -> list[Section]:
    """Counts of gains and losses, and up to `shown` questions of each to open; `file`: all of them are written too.

    The questions of ablations are counted only.
    """
    if not block.others:
        return []
    found = list(changes(block))
    asked = {row.question.id for row in block.rows[block.baseline]}
    sides = {
        (recipe, gained): [change for change in found if change.recipe == recipe and change.gained is gained]
        for recipe in block.others
        for gained in (True, False)
    }
    rows: list[list[Cell]] = [
        [
            recipe,
            len(sides[recipe, True]),
            len(sides[recipe, False]),
            sum(row.question.id in asked for row in block.rows[recipe]),
        ]
        for recipe in block.others
    ]
    note = (
        f"Questions that are better and worse than with {block.baseline}, by {block.primary} (for what cannot be "
        "answered, by whether it was refused). "
        + (f"All of them are in changes/{run.name}.jsonl." if file else "`--full-changes` writes all of them.")
    )
    sections = [Section("Gains and losses", tables=[Table("Questions that changed", COLUMNS, rows, note)])]
    for (recipe, gained), side in sides.items():
        if side and shown and block.ablated is None:
            what = "gained" if gained else "lost"
            told = "all shown" if len(side) <= shown else f"the first {shown} shown"
            sections.append(
                Section(
                    f"What {recipe} {what} against {block.baseline}: {len(side)} ({told})",
                    folded=[folded(run, change) for change in side[:shown]],
                )
            )
    return sections


COLUMNS = ("recipe", "gained", "lost", "n")


def folded(run: Run, change: Change) -> Folded:
    """One question to open: gold answers, and what each recipe said."""
    question = change.second.question
    facts = [("question", question.question)]
    if question.answers:
        facts.append(("right answers", shortened("; ".join(question.answers))))
    if not question.answerable:
        facts.append(("right answer", "a refusal"))
    if question.category:
        facts.append(("category", question.category))
    sides = ((change.baseline, change.first, change.before), (change.recipe, change.second, change.after))
    for (recipe, row, value), became in zip(sides, change.outcomes, strict=True):
        facts += said(recipe, row, f"{became} ({change.measure} {value:.3g})")
    traces = [row.reply.trace for _, row, _ in sides if row.reply is not None]
    named = collection_of(run)
    option = f" --collection {named}" if named else ""
    commands = [f"thresher explain {trace}{option}" for trace in traces if trace]
    return Folded(f"{question.id}: {question.question}", facts, commands)


def said(recipe: str, row: Row, became: str) -> Iterator[tuple[str, str]]:
    """What a recipe said, what it cited and its verdict."""
    yield recipe, became
    if row.reply is not None:
        yield f"{recipe} said", shortened(row.reply.text)
        if row.reply.citations:
            yield f"{recipe} cited", "; ".join(map(place, row.reply.citations[:LISTED]))
        if row.reply.verdict:
            yield f"{recipe}'s verdict", str(row.reply.verdict)
    elif row.ranking is not None:
        yield f"{recipe} found", "; ".join(map(place, row.ranking[:LISTED])) or "nothing"
    if row.error:
        yield f"{recipe}'s error", shortened(row.error)


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def place(cited: Place) -> str:
    """Source, page and characters."""
    page = "" if cited.page is None else f", page {cited.page}"
    span = "" if cited.start is None else f", characters {cited.start}-{cited.end}"
    return f"{cited.source}{page}{span}"


# --- the top of a report: a table with a row for each run, and sentences, both made from the numbers by rule ----------


SUMMARY_COLUMNS = (
    "run", "dataset", "n", "measure", "best recipe", "its value", "against the others", OURS,
    f"{OURS} minus the best other", "that other, p (Holm)",
)  # fmt: skip
NOTE = (
    "A row for each run: the recipe with the best primary measure, its value [95 % interval], and whether it is better "
    "than each other recipe on the same questions, p < 0.05 after Holm's correction."
)


def overview(runs: Sequence[Run], also: Sequence[Run] = ()) -> Section:
    """One table of all `runs`, and every warning once, of the runs in `also` too."""
    rows = [row(run, block) for run in runs for block in run.blocks]
    tables = [Table("The runs at a glance", SUMMARY_COLUMNS, rows, NOTE)] if rows else []
    warned: dict[str, list[str]] = {}
    for run in (*runs, *also):
        for warning in warnings(run):
            warned.setdefault(warning, []).append(run.name)
    return Section("At a glance", [f"{', '.join(names)}: {warning}" for warning, names in warned.items()], tables)


def row(run: Run, block: Block) -> list[Cell]:
    """What a run says, or one generator's part of it."""
    name = f"{run.name} ({block.generator or 'generator not told'})" if len(run.blocks) > 1 else run.name
    start: list[Cell] = [name, f"{run.dataset['kind']} {run.dataset['name']}", run.dataset["questions"], block.primary]
    leading = block.leading(block.primary)
    if leading is None:
        return [*start, *[None] * (len(SUMMARY_COLUMNS) - len(start))]
    return [*start, leading, block.scores[leading][block.primary], shared(block, leading), *ours(block)]


def shared(block: Block, leading: str) -> str:
    """Whether the first is surely the first, or with whom it shares the place."""
    rivals = block.rivals(leading, block.primary)
    if not rivals:
        return "not compared"
    alike = [recipe for recipe, told in rivals.items() if standing(block.primary, told) <= 0]
    return f"not distinguishable from {listed(alike, len(rivals))}" if alike else "significantly better than each"


def ours(block: Block) -> list[Cell]:
    """Our recipe's number, and its paired difference to the best of the others."""
    value = block.scores.get(OURS, {}).get(block.primary)
    compared = block.rivals(OURS, block.primary)
    if not compared:
        return [value, None, None]
    best = max(compared, key=lambda other: block.scores[other][block.primary].value or 0.0)
    told = compared[best]
    p = "" if told.p_holm is None else f", {probability(told.p_holm)}"
    return [value, Measured(told.difference, told.low, told.high, told.n), f"{best}{p}"]


def sentences(block: Block) -> Iterator[str]:
    """At most three: who is highest, how ours stands among them, what is surely worse than the baseline."""
    leading = block.leading(block.primary)
    if leading is None:
        return
    words = block.scores[leading].get("words_median")
    length = f" (median length of an answer in words: {words.shown})" if words and block.primary == "match" else ""
    yield (
        f"{leading} has the highest {block.primary}, {block.scores[leading][block.primary]}{length}: "
        f"{shared(block, leading)}."
    )
    if rivals_of(block):
        yield verdict(block)
    if block.others:
        yield against_baseline(block)


def against_baseline(block: Block) -> str:
    """The recipes that are significantly worse than the baseline in the primary measure."""
    rivals = block.rivals(block.baseline, block.primary)
    worse = [recipe for recipe, told in rivals.items() if standing(block.primary, told) > 0]
    if not worse:
        return f"No recipe is significantly worse than {block.baseline} in {block.primary}."
    return f"Significantly worse than {block.baseline} in {block.primary}: {', '.join(worse)}."
