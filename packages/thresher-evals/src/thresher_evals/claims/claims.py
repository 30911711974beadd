"""The claims of the five sources that can be checked with a pencil, with the numbers that they printed.

Codes X (ECRAG), Y (ChunkRAG) and W (hybrid report) are those of the contradictions in docs/methods.md and continue
them; V are further claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from thresher_evals.claims.claim import Claim

ECRAG = "ECRAG thesis"
CHUNKRAG_1 = "ChunkRAG (arXiv:2410.19572v1)"
CHUNKRAG_2 = "ChunkRAG (arXiv:2410.19572v2)"
CRAG = "CRAG (arXiv:2401.15884v3)"
HYBRID = "hybrid report"

PRINTED_RESULTS = 5
"""The hybrid report judges the first five results of each query (P@5)."""


# --- calculations -----------------------------------------------------------------------------------------------------


def f1(P: Fraction, R: Fraction) -> Fraction:
    """Harmonic mean of precision and recall."""
    return 2 * P * R / (P + R)


def subchunks(L: Fraction, l: Fraction, o: Fraction) -> Fraction:  # noqa: E741 - the letters of the thesis
    """Number of pieces of l characters that overlap by o in a text of L."""
    return (L - l) / (l - o) + 1


def percent_more(before: Fraction, after: Fraction) -> Fraction:
    """By how many percent `after` is more than `before`."""
    return 100 * (after / before - 1)


def difference(ours: Fraction, theirs: Fraction) -> Fraction:
    """Ours less theirs."""
    return ours - theirs


def over_the_best(ours: Fraction, **others: Fraction) -> Fraction:
    """Ours less the best of the others."""
    return ours - max(others.values())


def mean(**values: Fraction) -> Fraction:
    """Arithmetic mean."""
    return sum(values.values(), Fraction(0)) / len(values)


def compounded(ours: Fraction, theirs: Fraction) -> Fraction:
    """By how many percent three steps that must all be right succeed more often (accuracy ** n, equation 3)."""
    return 100 * ((ours / theirs) ** 3 - 1)


def widening(ours: Fraction, theirs: Fraction) -> Fraction:
    """How much the gap between accuracy ** n widens from the second step to the third, in percentage points."""

    def gap(steps: int) -> Fraction:
        return 100 * ((ours / 100) ** steps - (theirs / 100) ** steps)

    return gap(3) - gap(2)


def highest_rise(before: Fraction, **after: Fraction) -> Fraction:
    """The largest rise among several."""
    return max(after.values()) - before


def other_percentage(removed: Fraction, percent: Fraction, others: Fraction) -> Fraction:
    """The percentage of `others` removed where `removed` are that percentage."""
    return others * percent / removed


def from_places(before: Fraction, after: Fraction, queries: Fraction) -> Fraction:
    """By how many percent more places hold a relevant document: shares of all places, as whole numbers of them."""
    places = PRINTED_RESULTS * queries
    return 100 * (Fraction(round(after * places), round(before * places)) - 1)


def of_the_results(precision: Fraction) -> Fraction:
    """Relevant documents among the judged results of a query."""
    return PRINTED_RESULTS * precision


# --- ECRAG ------------------------------------------------------------------------------------------------------------

TABLE_1 = f"{ECRAG}, section 6.5, Table 1"


def _f1(system: str, precision: str, recall: str, claimed: str) -> Claim:
    formula = "2 × {P} × {R} / ({P} + {R})"
    return Claim("X13", TABLE_1, f"F1@5 of {system}", {"P": precision, "R": recall}, formula, f1, claimed)


_ECRAG: Sequence[Claim] = (
    _f1("RAG", "0.82", "0.76", "0.79"),
    _f1("CRAG", "0.87", "0.84", "0.85"),
    _f1("ECRAG", "0.94", "0.91", "0.93"),
    Claim(
        "X3",
        f"{ECRAG}, section 4.2, chunking",
        "a document has about [(T − L)/(L − O)] + 1 chunks: at least one where it has the 300 characters of a chunk",
        {"T": 300, "L": 2500, "O": 100},
        "({T} − {L}) / ({L} − {O}) + 1",
        lambda T, L, O: (T - L) / (L - O) + 1,  # noqa: E741 - the letters of the thesis
        1,
        ">=",
    ),
    Claim(
        "X6",
        f"{ECRAG}, section 4.2, subchunking",
        'a chunk has about [(L − 1)/(1 − o)] + 1 subchunks, with "1" as printed: at least one',
        {"L": 2500, "l": 1, "o": 50},
        "({L} − {l}) / ({l} − {o}) + 1",
        subchunks,
        1,
        ">=",
    ),
    Claim(
        "X6",
        f"{ECRAG}, section 4.2, subchunking",
        'the same with l = 300 for the "1": at least one',
        {"L": 2500, "l": 300, "o": 50},
        "({L} − {l}) / ({l} − {o}) + 1",
        subchunks,
        1,
        ">=",
    ),
    Claim(
        "X8",
        f"{ECRAG}, sections 4.2 and 5.2 against Figure 6",
        "the code's confidence is C = 0.7 CS + 0.3 BM25: where CS = BM25 = 1, its sum of both is as much",
        {"CS": 1, "BM25": 1},
        "({CS} + {BM25}) − (0.7 × {CS} + 0.3 × {BM25})",
        lambda CS, BM25: CS + BM25 - (Fraction("0.7") * CS + Fraction("0.3") * BM25),
    ),
    Claim(
        "X14",
        f"{ECRAG}, abstract against section 7",
        "quality is rated 4.6 of 5: read as the mean of correctness and coherence",
        {"correctness": "4.7", "coherence": "4.6"},
        "({correctness} + {coherence}) / 2",
        mean,
        "4.6",
    ),
    Claim(
        "X14",
        f"{ECRAG}, abstract against section 6.5",
        "quality is rated 4.6 of 5: read as the mean of correctness and coherence",
        {"correctness": "4.8", "coherence": "4.7"},
        "({correctness} + {coherence}) / 2",
        mean,
        "4.6",
    ),
    Claim(
        "X14",
        f"{ECRAG}, section 6.5 against section 7",
        "correctness is rated the same in both sections",
        {"ours": "4.8", "theirs": "4.7"},
        "{ours} − {theirs}",
        difference,
    ),
    Claim(
        "X14",
        f"{ECRAG}, abstract and section 6.2",
        "quality in three dimensions is rated 4.6 of 5",
        {"correctness": "4.8", "coherence": "4.7", "relevance": None},
        "({correctness} + {coherence} + {relevance}) / 3",
        mean,
        "4.6",
    ),
    Claim(
        "X14",
        f"{ECRAG}, abstract",
        "retrieval accuracy of up to 99 %",
        {"right_retrievals": None, "all_retrievals": None},
        claimed="99",
        unit="%",
    ),
    Claim(
        "X15",
        f"{ECRAG}, section 7",
        "a latency of 2.25 s is significantly better than RAG's (2.03 s): RAG takes longer",
        {"ours": "2.03", "theirs": "2.25"},
        "{ours} − {theirs}",
        difference,
        0,
        ">",
        "s",
    ),
    Claim(
        "X15",
        f"{ECRAG}, section 7",
        "a latency of 2.25 s is better than CRAG's (2.41 s): CRAG takes longer",
        {"ours": "2.41", "theirs": "2.25"},
        "{ours} − {theirs}",
        difference,
        0,
        ">",
        "s",
    ),
    Claim(
        "X16",
        f"{ECRAG}, sections 3.4 and 6.3",
        "latency grows as n log n with the number of documents: so it does from one size to another",
        {"seconds_at_250_documents": "2.25", "seconds_at_another_number_of_documents": None},
        claimed=1,
        relation=">",
    ),
    Claim(
        "V1",
        f"{ECRAG}, sections 6.4 and 7",
        "hallucinations fall significantly, from 10 % (CRAG) to 5 %",
        {"ours": "5", "theirs": "10", "responses": None},
        claimed=0,
        relation=">",
    ),
)


# --- ChunkRAG ---------------------------------------------------------------------------------------------------------

REMOVED = f"{CHUNKRAG_2}, section 6.1, Figure 3 against Table 2"


def _lead(dataset: str, ours: str, crag: str, self_crag: str, self_rag: str, rag: str) -> Claim:
    return Claim(
        "V2",
        f"{CHUNKRAG_2}, section 5.1, Table 1, group C",
        f"outperforms the existing baselines on {dataset}: points over the best of them",
        {"ours": ours, "CRAG": crag, "Self_CRAG": self_crag, "Self_RAG": self_rag, "RAG": rag},
        "{ours} − max({CRAG}, {Self_CRAG}, {Self_RAG}, {RAG})",
        over_the_best,
        0,
        ">",
        "points",
    )


def _copied(source: str, method: str, ours: str, theirs: str) -> Claim:
    return Claim(
        "Y18",
        f"{source}, Table 1 against {CRAG}, Table 1",
        f"PopQA accuracy of {method}, as the CRAG paper has it",
        {"ours": ours, "theirs": theirs},
        "{ours} − {theirs}",
        difference,
    )


_CHUNKRAG: Sequence[Claim] = (
    Claim(
        "Y5",
        REMOVED,
        "thresholds of 0.5 and 0.9 remove 20.5 % and 8.5 % of the chunks; where 36 chunks are 20.5 %, 12 are",
        {"removed": 36, "percent": "20.5", "others": 12},
        "{others} × {percent} / {removed}",
        other_percentage,
        "8.5",
        unit="%",
    ),
    Claim(
        "Y5",
        REMOVED,
        "both percentages are of the same chunks: as many in all at 0.5 as at 0.9",
        {"removed": 36, "percent": "20.5", "others": 12, "other_percent": "8.5"},
        "100 × {removed} / {percent} − 100 × {others} / {other_percent}",
        lambda removed, percent, others, other_percent: 100 * removed / percent - 100 * others / other_percent,
    ),
    Claim(
        "Y5",
        f"{CHUNKRAG_2}, section 6.3, Table 2",
        "the table gives the resulting reduction percentage at each threshold (here 0.6)",
        {"removed_chunks": 24, "chunks_in_all": None},
        claimed=0,
        relation=">",
        unit="%",
    ),
    Claim(
        "Y6",
        f"{CHUNKRAG_2}, section 6.2 against Table 2",
        "a consistent increase in similarity after filtering: the largest rise of five thresholds",
        {"before": "0.2399", "at_5": "0.2105", "at_6": "0.2163", "at_7": "0.2222", "at_8": "0.2255", "at_9": "0.2288"},
        "max({at_5}, {at_6}, {at_7}, {at_8}, {at_9}) − {before}",
        highest_rise,
        0,
        ">",
    ),
    Claim(
        "Y17",
        f"{CHUNKRAG_1}, section 5.2, Table 1",
        "64.9 is 10 points above the closest baseline (generator LLaMA2-hf-7b)",
        {"ours": "64.9", "RAG": "50.5", "CRAG": "54.9", "Self_RAG": "50.5", "Self_CRAG": "49.0"},
        "{ours} − max({RAG}, {CRAG}, {Self_RAG}, {Self_CRAG})",
        over_the_best,
        "10",
        unit="points",
    ),
    Claim(
        "Y17",
        f"{CHUNKRAG_1}, section 5.2 against {CHUNKRAG_2}, Table 1",
        "the same 64.9 is 10 points above CRAG (generator SelfRAG-LLaMA2-7b)",
        {"ours": "64.9", "theirs": "59.8"},
        "{ours} − {theirs}",
        difference,
        "10",
        unit="points",
    ),
    _copied(CHUNKRAG_1, "Self-RAG*", "50.5", "29.0"),
    _copied(CHUNKRAG_1, "Alpaca-13B", "14.3", "24.4"),
    _copied(CHUNKRAG_2, "Alpaca-13B", "24.4", "24.4"),
    Claim(
        "Y20",
        f"{CHUNKRAG_1}, section 5.3, equation 3",
        "in three steps the success rate is 66 % higher than CRAG's",
        {"ours": "64.9", "theirs": "54.9"},
        "100 × (({ours} / {theirs})^3 − 1)",
        compounded,
        "66",
        unit="%",
    ),
    Claim(
        "Y20",
        f"{CHUNKRAG_1}, section 5.3, equation 3",
        "the gap between the success probabilities widens with the number of steps: from two steps to three",
        {"ours": "64.9", "theirs": "54.9"},
        "100 × ((({ours} / 100)^3 − ({theirs} / 100)^3) − (({ours} / 100)^2 − ({theirs} / 100)^2))",
        widening,
        0,
        ">",
        "points",
    ),
    Claim(
        "Y22",
        f"{CHUNKRAG_2}, section 4",
        "experiments with a generator of 7 billion parameters on a K80 with 12 GB: room that 16-bit weights leave",
        {"gigabytes": 12, "billions": 7, "bytes_each": 2},
        "{gigabytes} − {billions} × {bytes_each}",
        lambda gigabytes, billions, bytes_each: gigabytes - billions * bytes_each,
        0,
        ">=",
        "GB",
    ),
    _lead("PopQA", "64.9", "59.8", "61.8", "54.9", "52.8"),
    _lead("PubHealth", "77.3", "75.6", "74.8", "72.4", "39.0"),
    _lead("Biography", "86.4", "74.1", "86.2", "81.2", "59.2"),
)


# --- hybrid report ----------------------------------------------------------------------------------------------------

KEY_RESULTS = f"{HYBRID}, section 3, Key Results"


def _relevant(system: str, precision: str, claimed: str) -> Claim:
    return Claim(
        "W2",
        f"{HYBRID}, section 4",
        f"{system}: relevant documents in the top {PRINTED_RESULTS}",
        {"precision": precision},
        f"{PRINTED_RESULTS} × {{precision}}",
        of_the_results,
        claimed,
    )


_HYBRID: Sequence[Claim] = (
    Claim(
        "W1",
        KEY_RESULTS,
        "P@5 improves by 40.0 %, from the printed 0.29 and 0.40",
        {"before": "0.29", "after": "0.40"},
        "100 × ({after} / {before} − 1)",
        percent_more,
        "40.0",
        unit="%",
    ),
    Claim(
        "W1",
        KEY_RESULTS,
        "P@5 improves by 40.0 %, as whole numbers of the 21 × 5 judged places",
        {"before": "0.29", "after": "0.40", "queries": 21},
        f"100 × (round({{after}} × {{queries}} × {PRINTED_RESULTS}) / "
        f"round({{before}} × {{queries}} × {PRINTED_RESULTS}) − 1)",
        from_places,
        "40.0",
        unit="%",
    ),
    Claim(
        "W1",
        KEY_RESULTS,
        "NDCG@5 changes by −0.2 %, from the printed 0.94 and 0.94",
        {"before": "0.94", "after": "0.94"},
        "100 × ({after} / {before} − 1)",
        percent_more,
        "-0.2",
        unit="%",
    ),
    _relevant("baseline", "0.29", "2.9"),
    _relevant("hybrid", "0.40", "4.0"),
    Claim(
        "W3",
        f"{HYBRID}, section 3, Key Results against Impact Analysis",
        "zero regression: the least of the printed improvements",
        {"precision": "40.0", "ndcg": "-0.2"},
        "min({precision}, {ndcg})",
        lambda precision, ndcg: min(precision, ndcg),
        0,
        ">=",
        "%",
    ),
    Claim(
        "W3",
        f"{HYBRID}, section 1, Safety Mechanism",
        "preserving the top 2 of 5 ensures that it is never worse: the least P@5 where the baseline's is 1",
        {"preserved": 2, "results": 5},
        "{preserved} / {results}",
        lambda preserved, results: preserved / results,
        1,
        ">=",
    ),
    Claim(
        "W3",
        f"{HYBRID}, section 3, Impact Analysis",
        "zero regression: queries on which P@5 falls",
        {"queries": 21, "queries_on_which_P@5_falls": None},
    ),
    Claim(
        "V3",
        KEY_RESULTS,
        "technical queries improve by 100 to 200 %",
        {"P@5_of_technical_queries_before": None, "P@5_of_technical_queries_after": None},
        claimed="100",
        relation=">=",
        unit="%",
    ),
)

CLAIMS: Sequence[Claim] = (*_ECRAG, *_CHUNKRAG, *_HYBRID)
"""All of them, by source."""
