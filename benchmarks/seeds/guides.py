"""The examples of the CRAG blog and of the hybrid report, with their questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

from benchmarks.seeds.ecrag import PAGE
from benchmarks.seeds.examples import ASKED, BLOG, CONTROL, LIMIT, RECENT, REPORT, SEARCHED, WITH_A_MODEL
from benchmarks.seeds.rows import Measured
from benchmarks.seeds.sections import NOTHING, Cell, Section, commented, needed, printed, stored_footing, table
from benchmarks.seeds.stored import column

SHOWN = 240
"""Characters of an answer in a table: the longest compare, and say the rest below."""

MEASURES = ("P@5", "R@5", "nDCG@10", "span_F1@5", "context_match")


def blog() -> Iterator[Section]:
    """The failure that the blog tells, and what its remedy does here."""
    yield Section(
        "The practical example of failure",
        f"“{BLOG}” is asked of a library on decision trees, random forests and XGBoost. Traditional RAG answers all "
        "the same, from what the model knows or from texts that say nothing of it; CRAG judges the retrieval Incorrect "
        "and searches the web.",
        "An example, not a measurement: the blog has no experiment and no library to download.",
        trees,
        "A chat model of today; the scripted one makes up what its evidence does not hold, as the blog tells it.",
    )
    yield Section(
        "The rewriting of “recent AI news”",
        "A question that implies recency gets a time in its search words: “AI news last month”.",
        "An example, not a measurement.",
        news,
        "The web as it was, and a chat model's own words: the scripted one repeats the question, and the engine adds "
        "the month.",
    )


def trees() -> str:
    """What becomes of the question, and of one that the library answers."""
    measured = needed("blog")
    lines: list[list[Cell]] = [
        [one["question"], place(one), f"`{one['recipe']}`", one["verdict"], ", ".join(one["handed on"]), answer(one)]
        for one in measured.found
        if not one.get("by a model") and (one["question"] == BLOG or one["outside"] == "none")
    ]
    header = ["question", "looks outside", "recipe", "verdict", "handed on", "answer"]
    return (
        f"The library in our own words (`benchmarks/seeds/examples.py`); a second collection with one text on "
        f"transformers stands for the web. “{CONTROL}” is asked beside it: whoever refuses everything would pass "
        f"otherwise.\n\n{table(header, lines)}\n\n{one_of_each(measured, len(ASKED))}\n\nA verdict of {NOTHING} is "
        "that of a recipe that has none: what keeps it from inventing here is that it can only quote, and that an "
        "answer which is hardly right is withheld.\n\n"
        f"With the scripted model the tale is the blog's: plain RAG shows what was made up, with a citation; CRAG "
        f"refuses, and answers once it was corrected.\n\n{spoken(measured, BLOG)}"
    )


def news() -> str:
    """What becomes of the question about recent news, with the words that were searched for."""
    measured = needed("blog")
    shows = "The library and the second collection, which has last month's news, with the scripted model."
    return f"{shows}\n\n{spoken(measured, RECENT)}\n\n{one_of_each(measured, len({name for name, _ in WITH_A_MODEL}))}"


def spoken(measured: Measured, question: str) -> str:
    """The rows of a question that the scripted model answered."""
    lines: list[list[Cell]] = [
        [
            f"`{one['recipe']}`",
            place(one),
            one["verdict"],
            one["searched for"],
            ", ".join(one["handed on"]),
            answer(one),
        ]
        for one in measured.found
        if one.get("by a model") and one["question"] == question
    ]
    return table(["recipe", "looks outside", "verdict", "searched for", "handed on", "answer"], lines)


def place(one: Mapping[str, Any]) -> str:
    """Whether there was somewhere else to look."""
    return "no" if one["outside"] == "none" else "in a second collection"


def answer(one: Mapping[str, Any]) -> str:
    """The answer on one line, or that it was refused."""
    text = one["answer"].replace("\n", " ").replace("|", "\\|")
    return "refused" if one["refused"] else f"“{shorten(text, SHOWN, placeholder=' …')}”"


def one_of_each(measured: Measured, recipes: int) -> str:
    """Below a table of examples: they prove nothing by their number."""
    return (
        f"*One question a line, {recipes} recipes: examples, no measurement; {measured.made}; `{measured.command}`: "
        f"{measured.settings}.*\n\n{commented(measured)}"
    )


def report() -> Iterator[Section]:
    """The report's results, then its examples."""
    yield Section(
        "Section 3: Precision@5 and NDCG@5 of baseline and hybrid",
        "Ten papers, 21 questions, graded from 1 to 5 by Llama-3.1-8b. The gain of 40 % is 30 of 105 relevant results "
        "against 42, with three losses and a sign test of p = 0.092 (W1, W3 in [methods](../methods.md)).",
        printed("hybrid report"),
        precision,
        "Its 21 questions are not in the report, and its judge is an 8B model behind a service.",
    )
    yield Section(
        "Section 2: RAG-Sequence against RAG-Token, BLEU, and mangoes",
        f"What is found for “{REPORT[0]}” and “{REPORT[1]}”, before and after; its repository also asks “{REPORT[2]}”, "
        "which no paper answers.",
        "In words: the baseline finds a formula and misses the numbers, the hybrid finds the explanation and the "
        "table.",
        examples,
        "GPT-3 and LoRA, two of its ten papers, are not among ours.",
    )


def precision() -> str:
    """What is found by recipe, as the evidence measured it."""
    columns = {name: column(PAGE, name) for name in MEASURES}
    lines: list[list[Cell]] = [
        [recipe, *(one.cells[recipe] for one in columns.values())] for recipe in ("rag", "hybrid", "corrective")
    ]
    return (
        f"Questions to SQuAD's paragraphs, n = {columns['P@5'].questions} that have an answer; relevant is the gold "
        f"paragraph, or its span for `span_F1@5`.\n\n{table(['recipe', *MEASURES], lines)}\n\n{stored_footing(PAGE)}"
        "\n\nA question has one gold paragraph: P@5 cannot be above 0.2."
    )


def examples() -> str:
    """The two questions that the report prints, and the negative control of its repository."""
    measured = needed("report")
    header = ["question", "recipe", f"first {LIMIT}: paper, page", "of a gold page", "hold an answer", "answer"]
    lines: list[list[Cell]] = [
        [
            one["question"],
            f"`{one['recipe']}`",
            ", ".join(f"{hit['source']} {hit['page']}" for hit in one["hits"]) or "none",
            *(sum(hit[name] for hit in one["hits"]) for name in ("gold page", "holds an answer")),
            answer(one),
        ]
        for one in measured.found
    ]
    return (
        f"`rag` is the dense baseline, `hybrid-literal` the report's own stages; gold pages and answers are those of "
        f"our set of questions.\n\n{table(header, lines)}\n\n{one_of_each(measured, len(SEARCHED))}"
    )
