"""Numbers that papers print, as data with their source. They were not measured here, and are never mixed with what was.

All shares are in 0..1. A published table prints no intervals, so none are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

LABEL = "claimed, not measured here, other generator"
"""What stands beside every published number."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number: of which system, on which dataset, written by which generator, from which table."""

    kind: str
    """Kind of the dataset (`eval run --dataset KIND:PATH`)."""
    measure: str
    system: str
    generator: str
    value: float
    source: str


LLAMA, SELF_RAG_LLAMA = "LLaMA2-hf-7b", "SelfRAG-LLaMA2-7b"
MEASURE_OF = {"popqa-longtail": "match", "biography": "factscore", "pubhealth": "match", "arc": "match"}
"""What the papers call accuracy: a gold string is part of the answer (Self-RAG's `match`); FActScore of biographies."""

CRAG_TABLE_1 = "CRAG (Yan et al. 2024), arXiv v3, Table 1"
CHUNKRAG_TABLE_1 = "ChunkRAG (Singh et al. 2024), v2, Table 1"
ACCURACY: Mapping[tuple[str, str, str], tuple[float | None, ...]] = {
    ("RAG", LLAMA, CRAG_TABLE_1): (50.5, 44.9, 48.9, 43.4),
    ("CRAG", LLAMA, CRAG_TABLE_1): (54.9, 47.7, 59.5, 53.7),
    ("Self-RAG", LLAMA, CRAG_TABLE_1): (29.0, 32.2, 0.7, 23.9),
    ("Self-CRAG", LLAMA, CRAG_TABLE_1): (49.0, 69.1, 0.6, 27.9),
    ("RAG", SELF_RAG_LLAMA, CRAG_TABLE_1): (52.8, 59.2, 39.0, 53.2),
    ("CRAG", SELF_RAG_LLAMA, CRAG_TABLE_1): (59.8, 74.1, 75.6, 68.6),
    ("Self-RAG", SELF_RAG_LLAMA, CRAG_TABLE_1): (54.9, 81.2, 72.4, 67.3),
    ("Self-CRAG", SELF_RAG_LLAMA, CRAG_TABLE_1): (61.8, 86.2, 74.8, 67.2),
    ("ChunkRAG", SELF_RAG_LLAMA, CHUNKRAG_TABLE_1): (64.9, 86.4, 77.3, None),
}
"""System, generator and source to percent on each of `MEASURE_OF`."""

CRAG_TABLE_6 = "CRAG (Yan et al. 2024), arXiv v3, Table 6"
SECONDS = {"RAG": 0.363, "CRAG": 0.512, "Self-RAG": 0.741, "Self-CRAG": 0.908}
"""Seconds a question took on the authors' machine, on PopQA; which generator was timed was not noted."""

ECRAG_TABLE_1, ECRAG_FIGURE_10 = "ECRAG thesis, Table 1 and Fig. 8", "ECRAG thesis, Fig. 10"
ECRAG: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("P@5", ECRAG_TABLE_1): (0.82, 0.87, 0.94),
    ("R@5", ECRAG_TABLE_1): (0.76, 0.84, 0.91),
    ("F1@5", ECRAG_TABLE_1): (0.79, 0.85, 0.93),
    ("unsupported", ECRAG_FIGURE_10): (0.15, 0.10, 0.05),
    ("seconds_mean", "ECRAG thesis, Fig. 11 at 250 documents"): (2.03, 2.41, 2.25),
}
"""Measure and source to the numbers of RAG, CRAG and ECRAG, on 250 papers and questions that were not published;
another set of papers stands in for them. The generator is not named."""


def _claims() -> Iterator[Claim]:
    for (system, generator, source), percents in ACCURACY.items():
        for (kind, measure), percent in zip(MEASURE_OF.items(), percents, strict=True):
            if percent is not None:
                yield Claim(kind, measure, system, generator, round(percent / 100, 4), source)
    for system, seconds in SECONDS.items():
        yield Claim("popqa-longtail", "seconds_mean", system, "generator not noted", seconds, CRAG_TABLE_6)
    for (measure, source), values in ECRAG.items():
        for system, value in zip(("RAG", "CRAG", "ECRAG"), values, strict=True):
            yield Claim("papers", measure, system, "generator not named", value, source)


CLAIMS = tuple(_claims())


def claims_of(kind: str, measures: Iterable[str]) -> list[Claim]:
    """What was published on a kind of dataset for some measures, in the order of the tables."""
    wanted = set(measures)
    return [claim for claim in CLAIMS if claim.kind == kind and claim.measure in wanted]


# --- ablations --------------------------------------------------------------------------------------------------------

ABLATED_ON = "popqa"
"""In the name of the datasets that these were published on."""

CRAG_ABLATIONS: Mapping[tuple[str, str], tuple[float, float]] = {
    ("whole", "CRAG v3, Table 1"): (54.9, 59.8),
    ("without Correct", "CRAG v3, Table 2"): (53.2, 58.3),
    ("without Incorrect", "CRAG v3, Table 2"): (54.4, 59.5),
    ("without Ambiguous", "CRAG v3, Table 2"): (54.0, 59.0),
    ("without refinement", "CRAG v3, Table 3"): (49.8, 54.2),
    ("without rewriting", "CRAG v3, Table 3"): (51.7, 56.2),
    ("without selection", "CRAG v3, Table 3"): (50.9, 58.6),
    ("only Correct", "CRAG v3, Table 11"): (52.4, 56.7),
    ("only Incorrect", "CRAG v3, Table 11"): (47.0, 48.5),
    ("only Ambiguous", "CRAG v3, Table 11"): (52.7, 58.0),
}
"""Variant and source to accuracy on PopQA in percent, by LLaMA2-hf-7b and by SelfRAG-LLaMA2-7b."""
