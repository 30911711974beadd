"""What an answer costs: seconds, processor time, memory, calls and tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from thresher.errors import UsageError
from thresher_evals.judges.human import FOLDER, RATINGS
from thresher_evals.metrics.registry import Family
from thresher_evals.report.blocks import Cell, Figure, Measured, Part, Section, Table, number
from thresher_evals.report.comparison import OURS, bar_figure, by_family, claim_words, drawer, fewest, probability
from thresher_evals.report.data import LACKS, Block, Run, lacks
from thresher_evals.report.plots import COLOURS
from thresher_evals.report.published import CHUNKRAG_TABLE_1, CRAG_TABLE_1, LABEL, SELF_RAG_LLAMA, claims_of
from thresher_evals.rows import WHY, Row
from thresher_evals.stats import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = (
    ("seconds", "Seconds a question", ("seconds_p50", "seconds_p95", "cpu_seconds"), "seconds"),
    ("calls", "Calls of a language model and tokens for a question, means", ("llm_calls", "completion_tokens"), ""),
)
"""Name, title, measures and what the axis is of every figure of bars; left out where nothing was spent."""
ABOUT_TAKEN = (
    "Questions that failed count for the seconds. Memory is the most the process had held when the question was done: "
    "it never falls, so a recipe shows what the ones before it took as well."
)
FEW_RECIPES = 3  # whose costs are seen at a glance in the table


def cost_section(run: Run, block: Block, prefix: str) -> Section:
    """A table of all costs, bars of those that are not nothing; of recipes asked in turn only what cannot be shared."""
    names = by_family(block.measures).get(Family.COST, [])
    rows: list[list[Cell]] = [
        [recipe, *(block.scores[recipe].get(name) for name in names), lacks(of)] for recipe, of in block.rows.items()
    ]
    note = "Value [95 % interval] n." if run.together else f"Value [95 % interval] n. {ABOUT_TAKEN}"
    figures = [
        figure
        for name, title, wanted, label in DRAWN
        if len(block.rows) > FEW_RECIPES and block.ablated is None
        for figure in bar_figure(block, f"{prefix}-{name}", title, spent(block, wanted), (), label, share=False)
    ]
    tables = [Table("Costs", ["recipe", *names, LACKS], rows, note)] if spent(block, names) else []
    if run.together:
        return Section("What it costs", [WHY], tables, figures)
    return Section("What it costs", tables=tables, figures=[*figures, *claimed_seconds(run, block, prefix)])


def spent(block: Block, names: Sequence[str]) -> list[str]:
    """The measures that are above nothing for some recipe."""
    return [name for name in names if any(name in told and told[name].value for told in block.scores.values())]


def claimed_seconds(run: Run, block: Block, prefix: str) -> list[Figure]:
    """Mean seconds beside the printed ones, which were taken on other machines."""
    claims = claims_of(run.dataset["kind"], ["seconds_mean"])
    if not claims:
        return []
    measured = [(block.label(recipe), {"seconds_mean": mean_seconds(rows)}) for recipe, rows in block.rows.items()]
    claimed = {claim.label: {claim.measure: claim.value} for claim in claims}
    draw = drawer(measured, ["seconds_mean"], claimed, "seconds, mean", share=False)
    legend = block.legend(block.recipes)
    title = "Mean seconds a question; the printed ones on other machines"
    return [Figure(f"{prefix}-claimed-seconds", title, draw, fewest(measured), claim_words(claims), legend)]


def mean_seconds(rows: Sequence[Row]) -> Measured:
    """What is printed is a mean, and not the median that stands in the table."""
    return Measured.of(mean_interval([row.seconds for row in rows]).to_dict())


# --- answers that build on answers: the chance that n in a row are right (ChunkRAG, eq. 3) ----------------------------


STEPS = tuple(range(1, 11))
PRINTED = (1, 2, 3, 5, 10)
"""Steps that stand in the table."""
ACCURACIES = ("label_accuracy", "match")


def power_section(run: Run, block: Block, prefix: str) -> list[Section]:
    """A table and curves; nothing where no accuracy was measured, or for ablations."""
    if block.primary not in ACCURACIES or block.ablated is not None:
        return []
    told = {recipe: scores[block.primary] for recipe, scores in block.scores.items() if block.primary in scores}
    drawn = {block.label(recipe): told[recipe] for recipe in block.curved if recipe in told}
    if not told:
        return []
    rows: list[list[Cell]] = [
        [recipe, *(power(one, step) for step in PRINTED), lacks(block.rows[recipe])] for recipe, one in told.items()
    ]
    note = f"{block.primary} to the power of the number of steps [the same of its interval's ends] n."
    columns = ["recipe", *(f"{step} in a row" for step in PRINTED), LACKS]
    claims = [
        (claim.label, claim.value)
        for claim in claims_of(run.dataset["kind"], [block.primary])
        if claim.generator == SELF_RAG_LLAMA and claim.source in (CRAG_TABLE_1, CHUNKRAG_TABLE_1)
    ]
    words = "ChunkRAG's equation 3. It supposes that steps fail independently of each other, which was not measured."
    figure = Figure(
        f"{prefix}-powers",
        "Chance that n answers in a row are right",
        lambda axes: curves(axes, list(drawn.items()), claims),
        min((one.n or 0 for one in drawn.values()), default=0),
        f"Bands are the intervals of {block.primary}." + (f" Dashed: {LABEL}." if claims else ""),
        block.legend(block.curved),
    )
    return [Section("Several steps in a row", [words], [Table("Accuracy to the n", columns, rows, note)], [figure])]


def power(told: Measured, steps: int) -> Measured:
    """accuracy^n with the ends of the interval raised as well (the power is monotone)."""
    value, low, high = (None if bound is None else bound**steps for bound in (told.value, told.low, told.high))
    return Measured(value, low, high, told.n)


def curves(axes: Axes, measured: Sequence[tuple[str, Measured]], claims: Sequence[tuple[str, float]]) -> None:
    """A filled line with its band for each recipe, a dashed one for each printed number."""
    for place, (recipe, told) in enumerate(measured):
        colour = COLOURS[place % len(COLOURS)]
        powers = [power(told, step) for step in STEPS]
        axes.plot(STEPS, [one.value or 0.0 for one in powers], color=colour, label=recipe)
        axes.fill_between(
            STEPS, [one.low or 0.0 for one in powers], [one.high or 0.0 for one in powers],
            color=colour, alpha=0.12, linewidth=0,
        )  # fmt: skip
    for place, (label, value) in enumerate(claims):
        axes.plot(
            STEPS, [value**step for step in STEPS], linestyle="--", linewidth=1, marker="o", markersize=4,
            markerfacecolor="none", color=COLOURS[(place + len(measured)) % len(COLOURS)], label=label,
        )  # fmt: skip
    axes.set_xlabel("answers in a row (n)")
    axes.set_ylabel("all right")
    axes.set_ylim(0, 1)
    axes.set_xticks(STEPS)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


# --- what people said of the answers (ECRAG, section 6.2), and how far they agree -------------------------------------


def people_section(run: Run, block: Block, prefix: str) -> list[Section]:
    """Ratings by recipe and the raters' agreement; nothing where nobody rated."""
    told = read_ratings(run)
    rated = {recipe: dimensions for recipe, dimensions in told.get("recipes", {}).items() if recipe in block.rows}
    if not rated:
        return []
    names = list(next(iter(rated.values())))
    measured = [
        (recipe, {name: Measured.of(one) for name, one in dimensions.items() if one["value"] is not None})
        for recipe, dimensions in rated.items()
    ]
    rows: list[list[Cell]] = [[recipe, *(dimensions.get(name) for name in names)] for recipe, dimensions in measured]
    note = f"1 to 5, mean of {len(told['raters'])} people's means [95 % interval] n answers. They saw no recipe's name."
    agreed: list[list[Cell]] = [
        [name, one["n"], *(plain(one[how]) for how in ("same", "kappa", "alpha_interval", "alpha_ordinal"))]
        for name, one in told["agreement"].items()
    ]
    columns = ["", "n", "said the same", "kappa, quadratic", "alpha, interval", "alpha, ordinal"]
    tables = [
        Table("Ratings", ["recipe", *names], rows, note),
        Table("Agreement of the raters", columns, agreed, "n: answers that all of them rated."),
    ]
    draw = drawer(measured, names, {}, "1 to 5", share=False)
    return [
        Section(
            "Response quality, by people",
            tables=tables,
            figures=[Figure(f"{prefix}-people", "Response quality, by people", draw, fewest(measured))],
        )
    ]


def plain(value: float | None) -> str | None:
    """A number without an interval."""
    return None if value is None else number(value)


def read_ratings(run: Run) -> dict[str, Any]:
    """ratings.json; empty where there is none."""
    path = run.directory / FOLDER / RATINGS
    if not path.is_file():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not {"raters", "recipes", "agreement"} <= set(told):
            raise ValueError("not ratings")
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            "damaged", subject=str(path), next_step="read the sheets again: thresher eval ratings"
        ) from error
    return dict(told)


# --- runs whose retrieval was made worse on purpose, together: accuracy by how often it may be right (CRAG, F----------


SETTING = "degraded"
"""Among the settings of each recipe in run.json: the share of the questions that may find their gold documents."""


def share_of(run: Run) -> float | None:
    """The share, 0 to 1, of a run that was made worse; None of others."""
    shares = {settings.get(SETTING) for settings in run.described["settings"].values()}
    share = next(iter(shares)) if len(shares) == 1 else None
    return None if share is None else float(share)


def grouped(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs of the same dataset and recipes, the highest share first."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.dataset["spec"], run.dataset["task"], *run.described["recipes"]), []).append(run)
    return [sorted(group, key=lambda run: -(share_of(run) or 0.0)) for group in groups.values()]


def degraded_part(runs: Sequence[Run]) -> Part:
    """One section for runs of the same dataset and recipes: a table, a figure, and ours against each other recipe."""
    dataset = runs[0].dataset
    blocks = [(share_of(run) or 0.0, block) for run in runs for block in run.blocks]
    recipes = list(dict.fromkeys(recipe for _, block in blocks for recipe in block.recipes))
    measure = blocks[0][1].primary
    rows: list[list[Cell]] = [
        [f"{share_of(run) or 0.0:g}", run.name, *(block.scores.get(recipe, {}).get(measure) for recipe in recipes)]
        for run in runs
        for block in run.blocks
    ]
    text = (
        "Of the questions with gold documents inside, only a share may still find them (CRAG, Figure 3); the rest of "
        f"the collection is as it was. Folders: {', '.join(run.name for run in runs)}."
    )
    note = f"{measure} [95 % interval] n at each share of questions that may find their gold documents."
    tables = [Table(f"{measure} by share", ["share", "folder", *recipes], rows, note), *ours(blocks, measure)]
    counts = [block.scores[recipe][measure].n or 0 for _, block in blocks for recipe in told(block, measure)]
    figure = Figure(
        f"{runs[0].name}-worse",
        f"{measure} where retrieval is made worse",
        lines(blocks, recipes, measure),
        min(counts, default=0),
        "Bands are 95 % intervals.",
        tuple(dict.fromkeys(pair for _, block in blocks for pair in block.legend(recipes))),
    )
    title = "Retrieval made worse"
    return Part(f"{title}: {dataset['kind']} {dataset['name']}", [Section(title, [text], tables, [figure])])


def told(block: Block, measure: str) -> list[str]:
    """The recipes that have a number."""
    return [recipe for recipe, scores in block.scores.items() if measure in scores]


def ours(blocks: Sequence[tuple[float, Block]], measure: str) -> list[Table]:
    """Our recipe minus each other one at each share; nothing where it was not asked."""
    rows: list[list[Cell]] = [
        [
            f"{share:g}",
            other,
            Measured(one.difference, one.low, one.high, one.n),
            one.better,
            one.worse,
            probability(one.p),
            probability(one.p_holm),
        ]
        for share, block in blocks
        for other, one in block.rivals(OURS, measure).items()
    ]
    note = "Paired [95 % interval] n; Holm's correction is for the recipes of one share."
    columns = ["share", "against", "difference", "higher", "lower", "p", "p (Holm)"]
    return [Table(f"{OURS} minus each other recipe, {measure}", columns, rows, note)] if rows else []


def lines(blocks: Sequence[tuple[float, Block]], recipes: Sequence[str], measure: str) -> Callable[[Axes], None]:
    """Draws a line with the band of its interval for each recipe."""

    def draw(axes: Axes) -> None:
        for place, recipe in enumerate(recipes):
            known = [
                (share, block.scores[recipe][measure]) for share, block in blocks if recipe in told(block, measure)
            ]
            if not known:
                continue
            shares = [share for share, _ in known]
            values, lows, highs = ([getattr(one, name) or 0.0 for _, one in known] for name in ("value", "low", "high"))
            colour = COLOURS[place % len(COLOURS)]
            label = next(block.label(recipe) for _, block in blocks if recipe in block.rows)
            axes.plot(shares, values, marker="o", markersize=4, color=colour, label=label)
            axes.fill_between(shares, lows, highs, color=colour, alpha=0.12, linewidth=0)
        axes.invert_xaxis()
        axes.set_ylim(0, 1)
        axes.set_xlabel("share of the questions that may find their gold documents")
        axes.set_ylabel(measure)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))

    return draw
