"""The sources item by item: each table, figure, algorithm, formula and example, and whether it works here."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from benchmarks.seeds.sections import table

State = Literal["works", "departs", "not here"]


class Item(NamedTuple):
    """One item of a source."""

    name: str
    state: State
    """`works`: as the source has it; `departs`: something else stands in for a part of it."""
    told: str
    """How it is seen to work, or why it departs or is not here."""


EXAMPLES = "`tests/recipes/test_examples.py`"
READINGS = "`tests/recipes/test_readings.py`"
GENERATOR = "the generators of 7 and 13 billion parameters are not here; the bundled reader quotes"
VARIANTS = "bundled reader and judge, and a second collection, for the 7B generators, the T5 and the web"

ITEMS: dict[str, tuple[Item, ...]] = {
    "ChunkRAG v1": (
        Item("Figure 1, the capital of France", "works", f"among other French cities, {EXAMPLES}"),
        Item("Figure 2, method, and section 3", "works", "`chunkrag-v1`; `thresher show chunkrag-v1` prints it"),
        Item("Equations 1 and 2, accuracy", "works", "`match`, `em`; a model says correct or not with `eval judge`"),
        Item("Equation 3, several steps", "works", "Y20 of the claims audit computes it; its 66 % does not agree"),
        Item("Table 1, PopQA", "not here", f"{GENERATOR}; the column is in Table 1 of v2, ours beside it"),
    ),
    "ChunkRAG v2": (
        Item("Figure 1, with and without filtering", "works", f"the capital of France, {EXAMPLES}"),
        Item("Figure 2, method", "works", "`thresher show chunkrag` prints the stages"),
        Item(
            "Algorithm 1",
            "departs",
            "line 16 defines no CombineScores: the mean (Y11); line 21: mu + sigma can lie above every score, so one "
            "chunk stays (Y13; `min_keep=0` as printed); line 24: the bundled cross-encoder for Cohere's, which "
            "`rerank` may name",
        ),
        Item("Table 1, three data sets", "departs", f"{GENERATOR}; `benchmarks.table1` takes a model of yours"),
        Item("Table 2, Figures 3 and 4", "departs", "its corpus and n are not stated; the same sweep over PopQA"),
        Item("Table 3", "departs", "its judge and n are not stated; two judges of ours, each side by both"),
        Item("A.1, four prompts", "departs", "own wording of the purposes, many chunks a call; `batch=1` is one each"),
        Item("A.2, Henry Feilden", "works", f"the wrong occupation is removed, {EXAMPLES}"),
    ),
    "ECRAG": (
        Item("Figure 1, standard RAG", "works", "`rag`"),
        Item("Figure 2, RAG with CRAG", "works", "`crag`"),
        Item("Figure 3, architecture", "works", "`thresher show ecrag` prints the stages"),
        Item("N and n, numbers of chunks", "works", "`thresher status` prints them beside the actual numbers (X3)"),
        Item(
            "Figure 4, chunking",
            "departs",
            f"overlap, minimum and merging of the text, which the code forgets (X1, X2); as printed: `ecrag-literal`, "
            f"{READINGS}",
        ),
        Item(
            "Figure 5, subchunking",
            "departs",
            f"the code loses the last subchunk and the overlap (X4, X5); as printed: `ecrag-literal`, {EXAMPLES}",
        ),
        Item("S_max, S_min, summaries", "departs", "bart-large-cnn is not here: a chat model, or sentences (X18)"),
        Item(
            "Counters and identifiers",
            "departs",
            "document, level and span: as unique, and adding a document renames nothing",
        ),
        Item("Coarse and fine search, IndexFlatL2", "departs", "LanceDB, unit vectors: the same order as FAISS (X7)"),
        Item("C = 0.7 CS + 0.3 BM25, and both", "works", "`tests/methods/test_confidence.py`"),
        Item(
            "Figure 6, knowledge detection",
            "departs",
            "the figure sums, drops the worst of each list and cannot route (X8 to X11); as printed: `ecrag-literal`",
        ),
        Item("Internal, ambiguous, external", "departs", f"no bounds are printed: 0.50 and 0.30 (X10), {READINGS}"),
        Item("Knowledge refinement", "departs", "named and not described: CRAG's strips, of what was found outside"),
        Item("P@k, R@k, F1, HR", "works", "over documents and spans (X12): `thresher eval score`"),
        Item("Table 1 and Figure 8", "departs", "250 papers and questions are not public; paragraphs of SQuAD"),
        Item("Figure 7, distances", "works", "the section below; `thresher eval study retrieved` for any question"),
        Item("Figure 9, response quality", "not here", "people have to rate; `thresher eval sheet` exports a sheet"),
        Item("Figure 10, hallucinations", "departs", "generator and raters are not named; a scripted model invents"),
        Item("Figure 11, latency", "departs", "passages for the 250 papers, and nothing is generated"),
        Item("Section 6.4, t-tests", "departs", "paired permutation tests and bootstrap, which need no normality"),
    ),
    "CRAG blog": (
        Item("RAG workflow and its diagram", "works", "`rag`"),
        Item("CRAG diagram", "departs", "it hands web text on unrefined and searches only if incorrect (Z4, Z5)"),
        Item("Example of failure, transformers", "works", f"the section below, {EXAMPLES}"),
        Item("Table of verdicts, UPPER_TH, LOWER_TH", "works", "`crag`; `tests/judging/test_verdicts.py`"),
        Item("Decompose, filter, recompose", "works", "`tests/refinement/test_refine.py`"),
        Item(
            "Web search with Tavily",
            "works",
            "replies of its form, `tests/correction/test_providers.py`",
        ),
        Item("“recent AI news” rewritten", "works", "the section below, `tests/correction/test_search_query.py`"),
        Item("Input of Refine by verdict", "works", "`tests/correction/test_corrector.py`"),
    ),
    "Hybrid report": (
        Item("Stages 1 to 4 and the diagram", "works", "`hybrid-literal`; `hybrid` chooses depths and weights anew"),
        Item("RRF", "works", "`tests/comparison/test_fusion.py`"),
        Item("Safety mechanism", "works", "two dense hits stay; they keep membership, not quality (W4)"),
        Item("RAG-Sequence and RAG-Token", "works", "the section below"),
        Item("BLEU of the Transformer paper", "works", "the section below; answered in doubt"),
        Item("Grades of a chat model, P@5, NDCG@5", "departs", "`judged_P@5`, `judged_nDCG@5`; ideal order (W6)"),
        Item("Key results", "departs", "its 21 questions are not printed; questions to SQuAD"),
        Item("Section 4, before and after", "not here", "its numbers repeat the key results in words, without rows"),
    ),
    "CRAG, the paper": (
        Item("Table 1", "not here", f"{GENERATOR}; PopQA and PubHealth are in ChunkRAG's Table 1"),
        Item("Tables 2, 3, 5 and 11", "departs", VARIANTS),
        Item("Table 4, the evaluator", "departs", "T5 and ChatGPT are not here; five judges on the same passages"),
        Item("Table 6, costs", "departs", "no generator: seconds without one"),
        Item("Figure 3, worse retrieval", "departs", VARIANTS),
    ),
}


def chapter() -> str:
    """The items as a table, counted."""
    counts = Counter(item.state for items in ITEMS.values() for item in items)
    lines = [[source, *item] for source, items in ITEMS.items() for item in items]
    return (
        f"## Item by item\n\nOf {sum(counts.values())} items {counts['works']} work here as in their source. "
        f"{counts['departs']} depart: something else stands in for a part of them. {counts['not here']} are not.\n\n"
        f"{table(['source', 'item', 'here', 'how, or why not'], lines)}"
    )
