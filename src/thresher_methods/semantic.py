"""Chunks of neighbouring sentences that mean alike (ChunkRAG, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from thresher.errors import ModelError, UsageError
from thresher.parts.chunking import (
    SENTENCES_VERSION,
    LeftOut,
    Span,
    check_sizes,
    chunk_regions,
    fingerprint,
    sentence_spans,
    split_at_whitespace,
    text_regions,
)
from thresher.types import Chunk, Document

if TYPE_CHECKING:
    from thresher.types import Vectors

PUBLISHED_THETA = 0.8
"""ChunkRAG, section 3, for text-embedding-3-small."""

THETAS = dict.fromkeys(("all-MiniLM-L6-v2-int8", "sentence-transformers/all-MiniLM-L6-v2"), 0.22)
"""Thetas by encoder. At 0.8 this one leaves 99 of 100 sentences alone; the median of its cosines, 0.22, gives chunks as
long as the published ones: 36 words (Table 2; eight papers, docs/decisions.md)."""


def theta_of(encoder: str, mode: str = "absolute") -> float:
    """The theta of an encoder by its name: its own where it was measured, else the published one."""
    return THETAS.get(encoder.partition("@")[0], PUBLISHED_THETA) if mode == "absolute" else PUBLISHED_THETA


THETA_BOUNDS = {"absolute": (-1.0, 1.0), "percentile": (0.0, 1.0), "std": (0.0, float("inf"))}


@dataclass(frozen=True, slots=True)
class SemanticChunker:
    """Sentences together while each is similar enough to what precedes it, up to `max_characters`, without overlap.

    `mode` says what `theta` is. A boundary falls where the cosine of a sentence with what precedes it is

    - `absolute`: below `theta` (published: 0.8; 0.7 in the first version). A higher theta cuts more often.
    - `percentile`: below the (1 - theta) quantile of the document's cosines of neighbouring sentences, which is where
      their *distance* exceeds its theta quantile - the field's usual meaning (LangChain's `percentile`, theta as a
      fraction): 0.8 cuts at about the fifth of the places that are least alike. A higher theta cuts less often.
    - `std`: below their mean less `theta` standard deviations (population). A higher theta cuts less often.

    `compare` says what precedes: the previous sentence (the method section), or the unit mean of the sentences already
    in the chunk ("dynamic greedy aggregation", the abstract). The document's cosines that `percentile` and `std` take
    their cut from are those of neighbouring sentences either way: those of centroids exist only once it is cut.

    Departs: a sentence longer than `max_characters` is split at whitespace and shares its chunks with no other; tables
    are chunks of their own. No absolute theta carries over from one encoder to another: see `theta_of`.
    """

    encode: Callable[[Sequence[str]], Vectors]
    """Texts to (n_texts, dimension) float32, rows of unit length; called once for each document."""
    encoder_name: str
    theta: float = PUBLISHED_THETA
    max_characters: int = 500
    mode: Literal["absolute", "percentile", "std"] = "absolute"
    compare: Literal["previous_sentence", "chunk_centroid"] = "previous_sentence"
    without: LeftOut | None = None
    """Finds the span that is to yield no chunks (the references)."""

    VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_sizes("semantic", self.max_characters, 0)
        low, high = THETA_BOUNDS[self.mode]
        if not low <= self.theta <= high:
            what = f"theta must be from {low:g} to {high:g} in mode '{self.mode}'"
            raise UsageError(what, subject=f"semantic theta={self.theta}")

    @property
    def fingerprint(self) -> str:
        """Name, version and settings in one line, the encoder's name among them."""
        own = {name: getattr(self, name) for name in ("theta", "max_characters", "mode", "compare")}
        own |= {"sentences": SENTENCES_VERSION, "without": self.without}
        return fingerprint("semantic", self.VERSION, encoder=self.encoder_name, **own)

    def __call__(self, document: Document) -> list[Chunk]:
        """The document's chunks in order."""
        text = document.text
        found = {
            region.start: [
                (region.start + start, region.start + end)
                for start, end in sentence_spans(text[region.start : region.end])
            ]
            for region in text_regions(document, without=self.without)
            if region.kind == "text"
        }
        vectors = self._encoded([text[start:end] for spans in found.values() for start, end in spans])
        cut = self._threshold(vectors, [len(spans) for spans in found.values()])
        cuts: dict[int, list[Span]] = {}
        first = 0
        for begin, spans in found.items():
            cuts[begin] = list(self._grouped(text, spans, vectors[first : first + len(spans)], cut))
            first += len(spans)
        size, without = self.max_characters, self.without
        return chunk_regions(document, lambda _text, start, _end: cuts[start], size=size, without=without)

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        vectors = np.asarray(self.encode(texts), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelError(
                f"gave vectors of shape {vectors.shape} for {len(texts)} texts, or numbers that are not finite",
                subject=self.encoder_name,
                next_step="use an encoder that gives one finite vector for each text",
            )
        return vectors

    def _threshold(self, vectors: Vectors, counts: Sequence[int]) -> float:
        """The cosine below which a boundary falls in this document."""
        import numpy as np

        if self.mode == "absolute":
            return self.theta
        # the last sentence before a table and the first one after it are no neighbours
        across = np.cumsum(counts, dtype=np.intp)[:-1] - 1
        alike = np.delete(_cosines(vectors), across)
        if not len(alike):
            return -1.0
        if self.mode == "percentile":
            return float(np.quantile(alike, 1.0 - self.theta))
        return float(alike.mean() - self.theta * alike.std())

    def _grouped(self, text: str, spans: Sequence[Span], vectors: Vectors, cut: float) -> Iterator[Span]:
        start = end = -1
        alike = _cosines(vectors)
        total = vectors[:0].sum(axis=0, dtype="float64")
        for index, (sentence_start, sentence_end) in enumerate(spans):
            if sentence_end - sentence_start > self.max_characters:
                if start >= 0:
                    yield start, end
                yield from split_at_whitespace(text, sentence_start, sentence_end, self.max_characters)
                start = -1
                continue
            if start >= 0:
                previous = self.compare == "previous_sentence"
                cosine = float(alike[index - 1]) if previous else _cosine_with_mean(total, vectors[index])
                if cosine < cut or sentence_end - start > self.max_characters:
                    yield start, end
                    start = -1
            if start < 0:
                start = sentence_start
                total = 0.0 * total
            total = total + vectors[index]
            end = sentence_end
        if start >= 0:
            yield start, end


def _cosines(vectors: Vectors) -> Vectors:
    """(n - 1,) float64: the cosine of each row with the next; rows are of unit length."""
    import numpy as np

    return np.einsum("ij,ij->i", vectors[:-1], vectors[1:], dtype=np.float64)  # type: ignore[no-any-return]


def _cosine_with_mean(total: Vectors, vector: Vectors) -> float:
    """The cosine of a unit vector with the mean of those that `total` sums; 0 where they cancel out."""
    norm = float((total @ total) ** 0.5)
    return float(total @ vector) / norm if norm else 0.0
