"""What each part of a recipe is worth: the recipe with a setting changed, against the recipe as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from thresher.evals.report.claims import ABLATED_ON, ABLATIONS, LABEL, LLAMA, SELF_RAG_LLAMA, ClaimedAblation
from thresher.evals.report.differences import COLUMNS, TOLD, cells, difference_figures, moved
from thresher.evals.report.drawing import bars
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Figure, Section, Table
from thresher.evals.variants import parse_variant

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ablation_sections(run: Run, block: Block, prefix: str) -> list[Section]:
    """A section where most of the recipes are variants of one; see `Block.ablated`."""
    base = block.ablated
    if base is None:
        return []
    named = [(name, parse_variant(name)) for name in block.recipes]
    variants = [name for name, variant in named if variant.recipe == base and variant.settings]
    return [ablation_section(run, block, base, variants, prefix)]


def ablation_section(run: Run, block: Block, base: str, variants: list[str], prefix: str) -> Section:
    """Variants against the recipe itself, the printed ablations in a figure of their own."""
    title = f"Ablations of {base}"
    claimed = claimed_figures(run, base, prefix)
    if base not in block.rows:
        text = f"{base} as it is was not asked in this run, so its variants are compared with nothing here."
        return Section(title, [text], figures=claimed)
    told = block.compare({name: block.rows[name] for name in (base, *variants)}, base, block.measures)
    rows: list[list[Cell]] = [
        [
            variant,
            name,
            block.scores[variant].get(name),
            block.scores[base].get(name),
            *cells(comparisons[name]),
            lacks(block.rows[variant]),
        ]
        for variant, comparisons in told.items()
        for name in TOLD
        if name in comparisons and moved(comparisons[name])
    ]
    note = (
        f"Variant minus {base}, on the same questions; Holm's correction is for the number of variants. Rows in which "
        "no question differs are left out."
    )
    table = Table(title, ["variant", "measure", "variant's", f"{base}'s", *COLUMNS, LACKS], rows, note)
    figures = difference_figures(block, f"{prefix}-ablations-{base}", f"{title}: variant minus {base}", told)
    return Section(title, tables=[table], figures=[*figures, *claimed])


# --- printed ones -----------------------------------------------------------------------------------------------------


def claimed_figures(run: Run, base: str, prefix: str) -> list[Figure]:
    """The printed ablations of the recipe, where the dataset has the questions of theirs in its name."""
    printed = [one for one in ABLATIONS if one.recipe == base]
    dataset = run.dataset
    if not printed or ABLATED_ON not in f"{dataset['kind']} {dataset['name']}".lower():
        return []
    sources = "; ".join(dict.fromkeys(one.source for one in printed))
    note = f"Accuracy on PopQA: {LABEL}, other questions. {sources}. Nothing in this figure was measured."
    return [Figure(f"{prefix}-claimed-ablations-{base}", f"Ablations of {base} as printed", draw(printed), None, note)]


def draw(printed: list[ClaimedAblation]) -> Callable[[Axes], None]:
    """Hollow bars, one for each of the two generators."""
    names = (LLAMA, SELF_RAG_LLAMA)

    def drawn(axes: Axes) -> None:
        bars(axes, [], names, claimed=[(one.variant, one.values) for one in printed], label="accuracy, claimed")

    return drawn
