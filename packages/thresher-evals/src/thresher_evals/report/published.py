"""Numbers that papers print, as data with their source. They were not measured here, and are never mixed with what was.

All shares are in 0..1. A published table prints no intervals, so none are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

    @property
    def label(self) -> str:
        """For an axis."""
        return f"{self.system} ({self.generator}; claimed)"


LLAMA, SELF_RAG_LLAMA = "LLaMA2-hf-7b", "SelfRAG-LLaMA2-7b"
CRAG_TABLE_1, CHUNKRAG_TABLE_1 = (
    "CRAG (Yan et al. 2024), arXiv v3, Table 1",
    "ChunkRAG (Singh et al. 2024), v2, Table 1",
)
MEASURE_OF = {"popqa-longtail": "match", "pubhealth": "match", "biography": "factscore", "arc": "match"}
"""What the papers call accuracy: a gold string is part of the answer (Self-RAG's `match`); FActScore of biographies."""


def _per_dataset(system: str, generator: str, source: str, percent: Mapping[str, float]) -> Iterable[Claim]:
    for kind, value in percent.items():
        yield Claim(kind, MEASURE_OF[kind], system, generator, round(value / 100, 4), source)


def _four(popqa: float, biography: float, pubhealth: float, arc: float) -> dict[str, float]:
    return {"popqa-longtail": popqa, "biography": biography, "pubhealth": pubhealth, "arc": arc}


def _three(popqa: float, pubhealth: float, biography: float) -> dict[str, float]:
    return {"popqa-longtail": popqa, "pubhealth": pubhealth, "biography": biography}


ACCURACY: tuple[Claim, ...] = (
    *_per_dataset("RAG", LLAMA, CRAG_TABLE_1, _four(50.5, 44.9, 48.9, 43.4)),
    *_per_dataset("CRAG", LLAMA, CRAG_TABLE_1, _four(54.9, 47.7, 59.5, 53.7)),
    *_per_dataset("Self-RAG", LLAMA, CRAG_TABLE_1, _four(29.0, 32.2, 0.7, 23.9)),
    *_per_dataset("Self-CRAG", LLAMA, CRAG_TABLE_1, _four(49.0, 69.1, 0.6, 27.9)),
    *_per_dataset("RAG", SELF_RAG_LLAMA, CRAG_TABLE_1, _four(52.8, 59.2, 39.0, 53.2)),
    *_per_dataset("CRAG", SELF_RAG_LLAMA, CRAG_TABLE_1, _four(59.8, 74.1, 75.6, 68.6)),
    *_per_dataset("Self-RAG", SELF_RAG_LLAMA, CRAG_TABLE_1, _four(54.9, 81.2, 72.4, 67.3)),
    *_per_dataset("Self-CRAG", SELF_RAG_LLAMA, CRAG_TABLE_1, _four(61.8, 86.2, 74.8, 67.2)),
    *_per_dataset("ChunkRAG", SELF_RAG_LLAMA, CHUNKRAG_TABLE_1, _three(64.9, 77.3, 86.4)),
)

UNNOTED = "generator not noted"
"""Of times: which generator was timed was not noted with the numbers."""
CRAG_TABLE_6 = "CRAG (Yan et al. 2024), arXiv v3, Table 6"
SECONDS: tuple[Claim, ...] = tuple(
    Claim("popqa-longtail", "seconds_mean", system, UNNOTED, value, CRAG_TABLE_6)
    for system, value in (("RAG", 0.363), ("CRAG", 0.512), ("Self-RAG", 0.741), ("Self-CRAG", 0.908))
)
"""Seconds a question took on the authors' machine."""

ECRAG_TABLE_1 = "ECRAG thesis, Table 1 and Fig. 8"
ECRAG_FIGURE_10 = "ECRAG thesis, Fig. 10"
UNNAMED = "generator not named"
ECRAG: tuple[Claim, ...] = tuple(
    Claim("papers", measure, system, UNNAMED, value, source)
    for measure, source, values in (
        ("P@5", ECRAG_TABLE_1, (0.82, 0.87, 0.94)),
        ("R@5", ECRAG_TABLE_1, (0.76, 0.84, 0.91)),
        ("F1@5", ECRAG_TABLE_1, (0.79, 0.85, 0.93)),
        ("unsupported", ECRAG_FIGURE_10, (0.15, 0.10, 0.05)),
        ("seconds_mean", "ECRAG thesis, Fig. 11 at 250 documents", (2.03, 2.41, 2.25)),
    )
    for system, value in zip(("RAG", "CRAG", "ECRAG"), values, strict=True)
)
"""On 250 papers and questions that were not published; another set of papers stands in for them."""

CLAIMS: tuple[Claim, ...] = (*ACCURACY, *SECONDS, *ECRAG)


def claims_of(kind: str, measures: Iterable[str]) -> list[Claim]:
    """What was published on a kind of dataset for some measures, in the order of the tables."""
    wanted = set(measures)
    return [claim for claim in CLAIMS if claim.kind == kind and claim.measure in wanted]


# --- ablations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimedAblation:
    """What a paper prints for a variant of its system: accuracy on PopQA, by generator."""

    recipe: str
    """Ours that follows the paper."""
    variant: str
    values: Mapping[str, float]
    source: str


def _ablations(source: str, printed: Mapping[str, tuple[float, float]]) -> tuple[ClaimedAblation, ...]:
    return tuple(
        ClaimedAblation("crag", name, {LLAMA: round(first / 100, 4), SELF_RAG_LLAMA: round(second / 100, 4)}, source)
        for name, (first, second) in printed.items()
    )


ABLATIONS: tuple[ClaimedAblation, ...] = (
    *_ablations("CRAG v3, Table 1", {"whole": (54.9, 59.8)}),
    *_ablations(
        "CRAG v3, Table 2",
        {"without Correct": (53.2, 58.3), "without Incorrect": (54.4, 59.5), "without Ambiguous": (54.0, 59.0)},
    ),
    *_ablations(
        "CRAG v3, Table 3",
        {"without refinement": (49.8, 54.2), "without rewriting": (51.7, 56.2), "without selection": (50.9, 58.6)},
    ),
    *_ablations(
        "CRAG v3, Table 11",
        {"only Correct": (52.4, 56.7), "only Incorrect": (47.0, 48.5), "only Ambiguous": (52.7, 58.0)},
    ),
)
ABLATED_ON = "popqa"
"""In the name of the datasets that these were published on."""
