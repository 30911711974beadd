"""docs/results/README.md: what the pages of docs/results come to, read from them; nothing in it is typed.

python -m benchmarks.overview
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from benchmarks import side_by_side
from benchmarks.evidence import COMMAND, JUDGING, OF, RECIPES
from benchmarks.machine import ROOT
from benchmarks.seeds.sections import NOTHING, table
from benchmarks.seeds.stored import PAGES, asked, column
from benchmarks.stale import Measured, footing, measured_on

RESULTS = ROOT / "docs" / "results"
PAGE = RESULTS / "README.md"

OPENING = """# What the evidence says

<!-- Made by `python -m benchmarks.overview` from the pages below; do not edit. -->

Without a chat model, on the [datasets](../datasets.md). `make evidence` makes every table of these pages again whose
subject has changed; `python -m benchmarks.stale` lists them. Values have 95 % intervals, bootstrap over questions."""

RANKING = ("rag", "hybrid[rerank=none,protect.n=0]", "hybrid", "crag", "corrective")
LIBRARIES = "python -m benchmarks.side_by_side --limit-documents 600 --limit-queries 100 --index-rounds 3"
CONSTANT = {"pubhealth-claims": "true", "climate-fever-claims": "SUPPORTS"}
"""The label that is right most often."""


def markdown() -> str:
    """The page."""
    return "\n\n".join([OPENING, *pages(), *worth(), *beside(), *labels(), *ranking(), *libraries(), *without()]) + "\n"


def pages() -> Iterator[str]:
    """Every page, with the oldest state that it has numbers of."""
    lines = []
    for page in sorted(RESULTS.rglob("*.md")):
        if page == PAGE:
            continue
        text = page.read_text(encoding="utf-8")
        made = sorted(measured_on(page, page.name), key=lambda one: one.date)
        title = f"[{text.partition(chr(10))[0].lstrip('# ')}]({page.relative_to(RESULTS).as_posix()})"
        commands = " · ".join(dict.fromkeys(f"`{short(one)}`" for one in made)) if len(made) < 4 else "several"
        state = f"{made[0].date}, `{made[0].commit}`" if made else NOTHING
        lines.append([title, asked(text) or NOTHING, state, commands or NOTHING])
    yield table(["page", "n", "oldest numbers", "by"], lines)


def short(made: Measured) -> str:
    """Its command."""
    return made.by.removeprefix("python -m ")


def worth() -> Iterator[str]:
    """What correction is worth: questions half of whose evidence is elsewhere, and questions without an answer."""
    yield "## What correction is worth"
    yield (
        "Half of the evidence for the questions of PopQA, Natural Questions and SQuAD was moved to a second "
        "collection. *Refused* is of questions to SQuAD without one, of which some cannot be answered; an "
        "answer in doubt is no refusal. *Right* looks for the answer in all the words that are shown. `rag`, `hybrid` "
        "and `chunkrag` never look elsewhere."
    )
    shown = {
        "right, PopQA": ("routing-popqa", "match"),
        "NQ": ("routing-nq", "match"),
        "SQuAD": ("routing-answered", "match"),
        "words shown, NQ": ("routing-nq", "words_median"),
        "evidence holds an answer, PopQA": ("routing-popqa", "context_match"),
        "NQ ": ("routing-nq", "context_match"),
        "SQuAD ": ("routing-answered", "context_match"),
        "refused, without an answer": ("refusal-answered", "refusal_recall"),
        "with one": ("refusal-answered", "wrong_refusals"),
    }
    yield from compared(shown, RECIPES)
    yield (
        "Verdicts that are right (stay inside where the collection answers, go outside where not), and AUROC of the "
        "confidence. Three fifths of the questions trained the judge; *NQ, final* is the fifth that was put aside."
    )
    sets = {
        "PopQA": ("routing-popqa",),
        "NQ": ("routing-nq",),
        "NQ, final": ("routing-nq", "routing-nq-final"),
        "SQuAD": ("routing-answered",),
        "refusals": ("refusal-answered",),
    }
    named = {"verdict_accuracy": "verdict", "auroc": "AUROC"}
    verdicts = {
        f"{name}, {title}": (page, one, *run) for name, (page, *run) in sets.items() for one, title in named.items()
    }
    yield from compared(verdicts, JUDGING)


def compared(columns: Mapping[str, tuple[str, ...]], recipes: tuple[str, ...]) -> Iterator[str]:
    """Measures of pages by recipe, and what they were measured with."""
    shown = {title: of for title, of in columns.items() if (PAGES / f"{of[0]}.md").is_file()}
    if not shown:
        return
    found = {title: column(*of) for title, of in shown.items()}
    header = ["recipe", *(f"{title.strip()}, n = {one.questions}" for title, one in found.items())]
    yield table(header, [[f"`{name}`", *(one.cells.get(name, NOTHING) for one in found.values())] for name in recipes])
    made = [next(measured_on(PAGES / f"{page}.md", page)) for page, *_ in shown.values()]
    oldest = min(made, key=lambda one: one.date)
    later = [
        f"{title} at `{one.commit}`" for title, one in zip(shown, made, strict=True) if one.commit != oldest.commit
    ]
    if later:
        yield f"Measured later: {', '.join(later)}."
    yield footing(oldest.commit, oldest.date, COMMAND, OF)


def beside() -> Iterator[str]:
    """How often our own recipe is better, as the report counts it."""
    yield "## Our own recipe beside the others"
    text = (RESULTS / "report.md").read_text(encoding="utf-8")
    yield from (part for part in text.split("\n\n")[1:3] if not part.startswith("|"))
    yield "[The report](report.md) has each of them."


def labels() -> Iterator[str]:
    """Claims, biographies, and questions over several documents."""
    yield "## Claims, biographies, several documents"
    constant = ", ".join(
        f"{label} {share(page, label):.2f} ({page.partition('-claims')[0]})" for page, label in CONSTANT.items()
    )
    yield (
        "The checker's finding is the label of a claim. The same label for every claim is right this often: "
        f"{constant}. FActScore is by rules, and what is quoted is supported by construction."
    )
    shown = {
        "PubHealth, labels right": ("pubhealth-claims", "label_accuracy"),
        "Climate-FEVER": ("climate-fever-claims", "label_accuracy"),
        "biographies, FActScore": ("biography-questions", "factscore"),
        "MultiHop-RAG, match": ("multihop-questions", "match"),
    }
    yield from compared(shown, RECIPES)


def share(page: str, label: str) -> float:
    """The share of a label among the questions of a page, as its opening counts them."""
    counted = re.search(r"\((\d+ \w+(?:, \d+ \w+)+)\)", (PAGES / f"{page}.md").read_text(encoding="utf-8"))
    assert counted is not None
    counts = {name: int(n) for n, name in (one.split() for one in counted[1].split(", "))}
    return counts[label] / sum(counts.values())


def ranking() -> Iterator[str]:
    """The judge as a reranker."""
    yield "## The judge as a reranker"
    yield (
        "nDCG@10. `corrective` orders what two lists find by a blend of their order and its judge. "
        "`hybrid[rerank=none,protect.n=0]` has no reranker, `hybrid` the bundled cross-encoder. In the pools the "
        "evidence of half of the questions is elsewhere."
    )
    yield from compared({"1,000 abstracts of SciFact": ("beir-scifact-1000", "nDCG@10")}, RANKING)
    pools = {"PopQA": "routing-popqa", "NQ": "routing-nq", "SQuAD": "routing-answered"}
    yield from compared({name: (page, "nDCG@10") for name, page in pools.items()}, RECIPES)


def libraries() -> Iterator[str]:
    """Thresher beside LangChain, LlamaIndex, Haystack and txtai, as `benchmarks.side_by_side` kept it."""
    kept = json.loads(side_by_side.RESULT.read_text(encoding="utf-8"))
    options, made = kept["options"], kept["made"]
    yield "## Beside other libraries"
    yield (
        f"{options['documents']} abstracts of SciFact and {options['queries']} questions to them, {options['rounds']} "
        f"rounds, load {kept['machine']['load']} on {kept['machine']['cores']} cores; ranges are of the rounds. "
        "`thresher` is a search by `corrective`, which judges all that it lists, `thresher_ask` an answer by it, with "
        "three passages at most and none where it refuses, `thresher_hybrid` retrieval alone, as the others have; all "
        "have the same encoder. RAGLite 1.1.1 loads extensions of DuckDB from the network and haiku.rag 0.6.0 takes "
        "vectors from servers alone: neither runs here."
    )
    digits = {name: digits for name, (*_, digits) in side_by_side.MEASURES.items()}
    yield side_by_side.table("system", kept["summary"], digits)
    yield footing(made["commit"], made["date"], LIBRARIES, ("src/thresher", "benchmarks/peers"))


def without() -> Iterator[str]:
    """What is not measured."""
    yield "## What is not here"
    yield (
        "`ecrag` and `chunkrag` on SciFact. ARC, Cranfield, CLAPnq, PopQA's long tail and the set of papers, which "
        "`thresher eval run` knows; [answers](answers.md) has other questions to papers. What a chat model adds is in "
        "[models](models.md). "
        "No recipe shows what it dropped: `tests/benchmarks/test_kept.py`; `python -m benchmarks.kept` asks more."
    )


def write() -> None:
    """Write the page."""
    PAGE.write_text(markdown(), encoding="utf-8")


if __name__ == "__main__":
    write()
