"""ECRAG: table 1, figures 1 to 11."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from benchmarks.seeds.sections import (
    NOTHING,
    Cell,
    Section,
    cell,
    claimed,
    commented,
    footing,
    interval,
    mean,
    needed,
    printed,
    stored_footing,
    table,
)
from benchmarks.seeds.stored import column
from benchmarks.studies.growth import PUBLISHED, fits, verdict
from thresher_evals.stats import quantile_interval

SYSTEMS = ("RAG", "CRAG", "ECRAG")
AT_FIVE = ("P@5", "R@5", "F1@5")
PAGE = "refusal-answered"
"""Of the evidence: the questions to SQuAD that its paragraphs answer."""

MEASURES = (*AT_FIVE, "span_F1@5", "nDCG@10", "context_match")
RECIPES = ("rag", "crag", "ecrag", "hybrid", "chunkrag", "corrective")


def sections() -> Iterator[Section]:
    """In the order of the thesis."""
    yield Section(
        "Figure 1: standard RAG",
        "A drawing of the stages of plain RAG.",
        not_here="It has no numbers. `rag` is that path; `thresher show rag` prints its stages.",
    )
    yield Section(
        "Figures 2 to 6: CRAG, the architecture, and the pseudo-code",
        "Drawings of CRAG and of ECRAG, and the code of chunking, subchunking and the knowledge detection mechanism.",
        not_here="They have no numbers. `thresher show ecrag` prints the stages, `ecrag-literal` is the code as "
        "printed; X1 to X11 in [methods](../methods.md) say where it contradicts the text.",
    )
    yield figure_7()
    yield table_1()
    yield figure_9()
    yield figure_10()
    yield figure_11()


def table_1() -> Section:
    """Precision, recall and F1 of what is retrieved."""
    header = ["measure", *SYSTEMS]
    lines: list[list[Cell]] = [
        [name, *(claimed("claims", system=one, measure=name, kind="papers") for one in SYSTEMS)] for name in AT_FIVE
    ]
    return Section(
        "Table 1 and Figure 8: precision, recall and F1 of the first five",
        "250 papers on artificial intelligence; the questions, their number, and who judged relevance are not "
        "given. 0.94 and 0.91 make an F1 of 0.925, not 0.93 (X13).",
        f"ECRAG thesis, section 6.5, Table 1; Figure 8 draws the same.\n\n{table(header, lines)}",
        found,
        "The thesis' 250 papers and its questions are not public.",
    )


def found() -> str:
    """What our recipes find, as the evidence measured it."""
    columns = {name: column(PAGE, name) for name in MEASURES}
    lines: list[list[Cell]] = [[recipe, *(one.cells[recipe] for one in columns.values())] for recipe in RECIPES]
    n = columns["P@5"].questions
    return (
        f"Questions to SQuAD's paragraphs, n = {n} that have an answer.\n\n{table(['recipe', *MEASURES], lines)}\n\n"
        f"{stored_footing(PAGE)}\n\nA question has one gold paragraph, so that P@5 cannot be above 0.2 nor F1@5 above "
        "0.333: R@5 and nDCG@10 are the ones to read."
    )


def figure_7() -> Section:
    """Chunks, their subchunks, and the distances."""
    return Section(
        "Figure 7: retrieved chunks with their children, and distances from the question",
        "One question: the chunks whose summaries lie nearest, the subchunks below them, and how far each is from the "
        "question.",
        "A plot of points without numbers.",
        distances,
    )


def distances() -> str:
    """The points of our plot, as a table."""
    measured = needed("figure-7")
    lines: list[list[Cell]] = []
    for chunk in measured.found:
        lines.append([chunk["label"], NOTHING, chunk["distance"], NOTHING, NOTHING])
        lines += [[f"&nbsp;&nbsp;{one['label']}", *facts(one)] for one in chunk["subchunks"]]
    header = ["chunk, and subchunks below it", "place", "distance", "confidence", "handed on"]
    return (
        f"L2 distance of unit vectors: 0 is the same direction, 1.41 unrelated.\n\n{table(header, lines)}\n\n"
        f"*One question; {measured.made}; `{measured.command}`: {measured.settings}. Sentences stand for the "
        f"summaries, which need a chat model.*\n\n{commented(measured)}"
    )


def facts(subchunk: dict[str, Any]) -> list[Cell]:
    """Place, distance, confidence, and whether it is handed on."""
    place = f"{subchunk['paper']}, page {subchunk['page']}"
    return [place, subchunk["distance"], subchunk["confidence"], "yes" if subchunk["kept"] else "no"]


def figure_9() -> Section:
    """Ratings by people."""
    return Section(
        "Figure 9: response quality",
        "Correctness and coherence on a scale of 1 to 5, rated by people; relevance is announced and not reported. The "
        "numbers of the abstract and of two sections differ (X14).",
        printed("ecrag figure 9"),
        not_here="It needs people who rate, and answers that somebody wrote: the reader quotes. `thresher eval sheet "
        "DIR --out FILE` exports a blinded sheet, and several raters' sheets are read back "
        "([judging answers](../evaluating.md#judging-answers)); what one person found in 150 answers by written rules "
        "is in [the questions of the benchmarks](../../benchmarks/questions/README.md).",
    )


def figure_10() -> Section:
    """Hallucinations."""
    header = ["", *SYSTEMS]
    rates: list[Cell] = [claimed("claims", system=one, measure="unsupported", kind="papers") for one in SYSTEMS]
    return Section(
        "Figure 10: hallucination rate",
        "Share of responses with a hallucination. What counts as one, who decided, and of how many responses is not "
        "stated.",
        f"ECRAG thesis, sections 6.2 and 7, Figure 10.\n\n{table(header, [['responses with hallucinations', *rates]])}",
        made_up,
        "The generator of the thesis, its questions and its raters. Scripted models that lie in other ways, and what "
        "becomes of each of their sentences, are measured by `python -m benchmarks.who_speaks`.",
    )


def made_up() -> str:
    """Answers that a scripted model made up, by recipe."""
    measured = needed("hallucinations")
    lines: list[list[Cell]] = [
        [name, mean(values["answered"]), mean(values["made up"])] for name, values in measured.lines.items()
    ]
    return (
        "A scripted model stands for the generator: it states the answer if a passage that it is given holds it, and "
        "else makes one up. So the rate is that of questions for which a recipe hands on passages that do not "
        f"suffice.\n\n{table(['recipe', 'answered', 'of these made up'], lines)}\n\n{footing(measured)}\n\n"
        "CRAG and ECRAG may search the second collection, in which half of the questions have their evidence; RAG may "
        "not. As published every answer is shown as written. *Checked* shows no sentence that the evidence does not "
        "support (`answer.check=strict`): what is left was made up and not noticed. Of a model that always keeps to "
        "its evidence the rate would be 0, of one that never does 1: the order of the recipes counts, not the level."
    )


def figure_11() -> Section:
    """Latency by number of documents."""
    return Section(
        "Figure 11: latency by number of documents",
        "Seconds of a query from few papers to 250, generation included; stated growth: n log n. The text calls "
        "2.25 s significantly better than 2.03 s (X15).",
        "ECRAG thesis, section 7, at 250 papers.\n\n" + table(["system", "seconds"], PUBLISHED),
        grown,
        "250 papers would be minutes of indexing for each size, and 41 are here.",
    )


def grown() -> str:
    """Latency by number of passages."""
    measured = needed("growth")
    recipes = dict.fromkeys(name.rpartition(" ")[0] for name in measured.lines)
    sizes = dict.fromkeys(name.rpartition(" ")[2] for name in measured.lines)
    lines: list[list[Cell]] = [[size, *(latency(f"{recipe} {size}") for recipe in recipes)] for size in sizes]
    curves = "; ".join(f"`{recipe}`: {verdict(fits(*medians(recipe)))}" for recipe in recipes)
    questions = len(next(iter(next(iter(measured.lines.values())).values())))
    return (
        f"Median milliseconds until a question is retrieved for; nothing is generated.\n\n"
        f"{table(['documents', *recipes], lines)}\n\n{footing(measured, questions)}\n\nHow it grows, by Akaike's "
        f"criterion: {curves}. The documents are passages and not papers, on a machine that did other work: the order "
        "of magnitude counts. `thresher eval study growth` goes up to 10,000 documents."
    )


def latency(line: str) -> str:
    """The median of all rounds with its interval."""
    rounds = needed("growth").lines[line].values()
    return interval(quantile_interval([one for values in rounds for one in values if one is not None], 0.5))


def medians(recipe: str) -> tuple[list[float], list[float]]:
    """Documents and the median of each round, as points of a curve."""
    points = [
        (float(cell(name.rpartition(" ")[2])), median(one for one in values if one is not None))
        for name, rounds in needed("growth").lines.items()
        if name.rpartition(" ")[0] == recipe
        for values in rounds.values()
    ]
    return [size for size, _ in points], [seconds for _, seconds in points]
