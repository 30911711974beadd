"""CRAG: tables 2 to 6 and 11, and figure 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.seeds.answers import (
    ACTIONS,
    ALONE,
    ALWAYS_BOTH,
    FOUND,
    PRESETS,
    RECIPES,
    WITHOUT_REFINEMENT,
    WITHOUT_REWRITING,
    WITHOUT_SELECTION,
)
from benchmarks.seeds.sections import (
    NOTHING,
    Cell,
    Section,
    cell,
    claimed,
    difference,
    footing,
    interval,
    mean,
    needed,
    published,
    table,
)
from benchmarks.seeds.sweeps import evaluated
from benchmarks.studies.judge_accuracy import ALWAYS_NO, PUBLISHED, judged_cells
from thresher_evals.stats import mean_interval, quantile_interval

VARIANTS = "crag-variants"
NAMES = ("match", "abstained")
TABLE_5 = "crag table 5"
GENERATORS = ("LLaMA2-hf-7b", "SelfRAG-LLaMA2-7b")
SYSTEMS = ("RAG", "CRAG", "Self-RAG", "Self-CRAG")
TITLES = ["", "variant", *(f"published, {one}" for one in GENERATORS)]
MEASURED = ["refused", "match", "minus `crag`", "context_match", "minus `crag`"]
WITHOUT_A_MODEL = (
    "The published rows have 7B generators, a fine-tuned T5 as evaluator and the web; ours have the bundled reader and "
    "judge, and a second collection. Levels cannot be compared, only what leaving something out does."
)
MISSING = "The published levels need a 7B generator, CRAG's fine-tuned T5 and the web as it was."


def sections() -> Iterator[Section]:
    """In the order of the paper."""
    yield Section(
        "Table 1: methods on four data sets",
        "Accuracy and FactScore of RAG, CRAG, Self-RAG and Self-CRAG with 7B generators.",
        not_here="It needs the generators. ChunkRAG's Table 1, above, repeats its PopQA, PubHealth and Biography "
        "columns and has ours beside them; `thresher eval run --dataset arc:FILE` asks ARC.",
    )
    named = zip(("Correct", "Incorrect", "Ambiguous"), ACTIONS, strict=True)
    yield ablation(
        "Table 2: without one of the three actions",
        "Accuracy on PopQA when an action is taken away: Correct and Incorrect are merged into Ambiguous, without "
        "Ambiguous one threshold is left.",
        "CRAG (arXiv:2401.15884v3), Table 2, PopQA accuracy.",
        [("whole", "crag"), *((f"without {name}", variant) for name, variant in named)],
    )
    yield ablation(
        "Table 3: without one of the operations",
        "Accuracy on PopQA without knowledge refinement, without rewriting the question into search words, and without "
        "selecting among what the web gave.",
        "CRAG (arXiv:2401.15884v3), Table 3, PopQA accuracy.",
        [
            ("whole", "crag"),
            ("without refinement", WITHOUT_REFINEMENT),
            ("without rewriting", WITHOUT_REWRITING),
            ("without selection", WITHOUT_SELECTION),
        ],
        "Rewriting needs a chat model: without one the question itself is searched for, and the variant answers as "
        "`crag` does.",
    )
    yield table_4()
    yield table_5()
    yield table_6()
    yield ablation(
        "Table 11: one action alone",
        "Accuracy on PopQA where every question takes the action Correct, Incorrect or Ambiguous.",
        "CRAG (arXiv:2401.15884v3), Table 11, PopQA accuracy.",
        [
            ("whole", "crag"),
            *zip(("only Correct", "only Incorrect", "only Ambiguous"), ALONE, strict=True),
        ],
        "`thresher eval study actions` replays the published contexts.",
    )
    yield Section(
        "Figure 3: accuracy where retrieval is made worse",
        "Accuracy of CRAG and Self-CRAG by the share of questions whose documents can be found.",
        "CRAG (arXiv:2401.15884v3), Figure 3: a curve without a table, from 69.8 % of the questions down to 10 %.",
        robustness,
        "The published curve has a 7B generator.",
    )


def robustness() -> str:
    """Right and refused by the share of questions whose documents can be found inside."""
    measured = needed("crag-robustness")
    lines: list[list[Cell]] = [
        [f"{share:g}", *(mean(measured.lines[f"{recipe} {share:g}"][name]) for recipe in RECIPES for name in NAMES)]
        for share in FOUND
    ]
    header = ["found inside", *(f"`{recipe}`, {name}" for recipe in RECIPES for name in ("right", "refused"))]
    return (
        "`thresher eval run --degrade` hides the documents of the other questions by a hash. `rag` looks nowhere else; "
        f"the second collection has the evidence of half of the questions.\n\n{table(header, lines)}\n\n"
        f"{footing(measured)}"
    )


def ablation(title: str, shows: str, source: str, variants: Sequence[tuple[str, str]], more: str = "") -> Section:
    """Variants of `crag` beside the paper's."""

    def beside() -> str:
        lines: list[list[Cell]] = [
            [name, f"`{variant}`", *percents(name), *ours(variant)] for name, variant in variants
        ]
        return f"{WITHOUT_A_MODEL} {more}\n\n{table([*TITLES, *MEASURED], lines)}\n\n{footing(needed(VARIANTS))}"

    return Section(title, shows, f"{source} The same table has ours.", beside, MISSING)


def percents(name: str) -> list[Cell]:
    """What the paper prints for a variant, by generator."""
    found = (claimed("crag ablations", system=name, measure="match", kind="popqa", generator=one) for one in GENERATORS)
    return [None if value is None else f"{100 * value:.1f} %" for value in found]


def ours(variant: str) -> list[Cell]:
    """How often a variant refuses, both measures, and the difference from `crag`."""
    lines = needed(VARIANTS).lines
    if variant not in lines:
        return ["a quarter of an hour: `--measure crag-variants`", *[NOTHING] * (len(MEASURED) - 1)]
    found: list[Cell] = [mean(lines[variant]["abstained"])]
    for measure in ("match", "context_match"):
        same = variant == "crag"
        found.append(mean(lines[variant][measure]))
        found.append(NOTHING if same else difference(lines["crag"][measure], lines[variant][measure]))
    return found


def table_4() -> Section:
    """Accuracy of the evaluator."""
    return Section(
        "Table 4: accuracy of the retrieval evaluator",
        "How often the evaluator is right about a retrieved passage of PopQA. In the released code a passage is "
        "positive when its title is that of the question's page. The share of positives is not given.",
        "CRAG (arXiv:2401.15884v3), Table 4.\n\n" + table(["evaluator", "accuracy"], PUBLISHED),
        judges,
        "CRAG's T5 is not among the bundled models, and ChatGPT's rows need a key.",
    )


def judges() -> str:
    """Every judge, with its threshold from other questions."""
    measured = needed("evaluator")
    tune, final = (evaluated(measured.lines[split]) for split in ("tune", "final"))
    never = [sum(not one["gold"] for one in row["passages"]) / len(row["passages"]) for row in final]
    lines: list[list[Cell]] = [[ALWAYS_NO, interval(mean_interval(never)), 0.5, NOTHING]]
    for judge in final[0]["passages"][0]["scores"]:
        cells = judged_cells(judge, tune, final, 0)
        accuracy, auroc = (
            f"{cell(cells[name])} [{cell(cells[f'{name} low'])}, {cell(cells[f'{name} high'])}]"
            for name in ("accuracy", "AUROC")
        )
        lines.append([judge, accuracy, cells["balanced accuracy"], auroc])
    n = len(final)
    header = ["judge", f"accuracy, n = {n}", "balanced accuracy", "AUROC"]
    return (
        f"Whether a passage is of the gold page; ten passages a question. The threshold of each judge is chosen on "
        f"{len(tune)} other questions.\n\n{table(header, lines)}\n\n{footing(measured, n)}\n\nThe interval of AUROC is "
        "over passages. Most passages are not of the gold page, so that always saying no is right that often: balanced "
        "accuracy and AUROC are the numbers to read, and the published accuracies cannot be set against ours."
    )


def table_5() -> Section:
    """Plain RAG with the web's text."""
    return Section(
        "Table 5: plain RAG that is given the web's text too",
        "Whether CRAG's gain is the web's alone: RAG with both texts for every question, unjudged and whole.",
        f"{published(TABLE_5)['source']}; RAG and CRAG are those of Table 1. The same table has ours.",
        with_the_web,
        MISSING,
    )


def with_the_web() -> str:
    """Everything handed on, beside `rag`, `crag` and its presets."""
    name, *values = published(TABLE_5)["rows"][0]
    printed: dict[str, list[Cell]] = {one: systems(one) for one in ("RAG", "CRAG")}
    printed[name] = [f"{value} %" for value in values]
    variants = (("RAG", "rag"), (name, ALWAYS_BOTH), ("CRAG", "crag"))
    lines: list[list[Cell]] = [
        [title, f"`{variant}`", *printed.get(title, (None, None)), *ours(variant)] for title, variant in variants
    ]
    lines += [["preset", f"`{preset}`", None, None, *ours(preset)] for preset in PRESETS]
    return (
        f"{WITHOUT_A_MODEL}\n\n{table([*TITLES, *MEASURED], lines)}\n\n{footing(needed(VARIANTS))}\n\nWhere everything "
        f"is handed on, the reader is given {longer()} times as many characters as by `crag`: `context_match` says "
        "whether an answer is in them, `match` whether the reader got it out. It stops after some windows "
        "of text, and what is from inside stands first."
    )


def longer() -> str:
    """How much more is handed on when everything is."""
    lines = needed(VARIANTS).lines
    all_, chosen = (sum(one or 0 for one in lines[name]["context_characters"]) for name in (ALWAYS_BOTH, "crag"))
    return f"{all_ / chosen:.0f}"


def systems(system: str) -> list[Cell]:
    """What Table 1 of the paper prints for PopQA, by generator."""
    found = (
        claimed("claims", system=system, measure="match", kind="popqa-longtail", generator=one) for one in GENERATORS
    )
    return [None if value is None else f"{100 * value:.1f} %" for value in found]


def table_6() -> Section:
    """Seconds of a question."""
    kind = "popqa-longtail"
    paper = [[one, claimed("claims", system=one, measure="seconds_mean", kind=kind)] for one in SYSTEMS]
    return Section(
        "Table 6: costs of a question",
        "Time of an instance by system. The generator and the machine are not noted.",
        "CRAG (arXiv:2401.15884v3), Table 6; its floating-point operations are of 7B models.\n\n"
        + table(["system", "seconds"], paper),
        costs,
        "Seconds with a 7B generator.",
    )


def costs() -> str:
    """What a question takes by recipe."""
    measured = needed("crag-costs")
    lines: list[list[Cell]] = [
        [recipe, mean(found["cpu_seconds"]), *spent([one for one in found["seconds_p50"] if one is not None])]
        for recipe, found in measured.lines.items()
    ]
    header = ["recipe", "processor seconds, mean", "seconds, mean", "median", "95 % take at most"]
    return (
        f"Nothing is generated by a model, recipe by recipe, on a machine that did other work: the processor's seconds "
        f"are the ones to read.\n\n{table(header, lines)}\n\n{footing(measured)}\n\nWhat each recipe asks of a chat "
        "model (calls, tokens, seconds at 500 ms a call) is measured by `python -m benchmarks.speed`."
    )


def spent(seconds: Sequence[float]) -> list[Cell]:
    """Mean, median and 95 % quantile."""
    return [interval(mean_interval(seconds)), *(interval(quantile_interval(seconds, at)) for at in (0.5, 0.95))]
