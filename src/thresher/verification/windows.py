"""What is read of the evidence for a claim: windows of some sentences, and the sentences nearest to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thresher.text.injection import is_command
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_share
from thresher.types import Evidence, SupportReading

WINDOW_CHARACTERS = 800
"""About 180 tokens: with a claim, what the model read at once in its training."""

WINDOWS_READ = 4
"""Windows nearest to a claim that are read, of what it cites and again of everything else."""

SENTENCES_READ = 3
"""Sentences nearest to a claim that are read alone: short texts, a tenth of a window's time each."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some sentences of a piece that are read at once."""

    piece: int
    place: Evidence
    sentences: tuple[str, ...]

    @property
    def title(self) -> str:
        """Of its document, unless it tells the reader what to answer."""
        title = self.place.hit.chunk.title
        return "" if is_command(title) else title

    @property
    def text(self) -> str:
        """Its sentences on one line."""
        return " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class Reads:
    """The texts that are read for a claim: the windows, the sentences nearest to it together, and the nearest alone."""

    texts: tuple[str, ...]
    titles: tuple[str, ...]
    windows: int
    """How many of the texts are windows; they come first."""

    @classmethod
    def of(cls, claim: str, windows: Sequence[Window]) -> Reads:
        """What is read for a claim beside some windows, which are not none."""
        every = dict.fromkeys((window.title, sentence) for window in windows for sentence in window.sentences)
        near = sorted(every, key=lambda one: -term_share(claim, f"{one[0]} {one[1]}"))
        chosen: set[tuple[str, str]] = set()
        length = 0
        for one in near:
            length += len(one[1])
            if chosen and length > WINDOW_CHARACTERS:
                break
            chosen.add(one)
        alone, together = near[:SENTENCES_READ], " ".join(one[1] for one in every if one in chosen)
        return cls(
            (*(window.text for window in windows), together, *(text for _, text in alone)),
            (*(window.title for window in windows), windows[0].title, *(title for title, _ in alone)),
            len(windows),
        )

    def rest(self, readings: Sequence[SupportReading]) -> tuple[SupportReading, SupportReading]:
        """Of the sentences together, and of the one that supports the claim most."""
        together, *alone = readings[self.windows :]
        return together, max(alone, key=_supported)


def windows_of(piece: Evidence, at: int = 0) -> Iterator[Window]:
    """The sentences of a piece in windows of some `WINDOW_CHARACTERS`, the last sentence of one the first of the next.

    Sentences that tell the reader what to answer are left out.
    """
    spans = [span for span in sentence_spans(piece.text) if not is_command(piece.text[span[0] : span[1]])]
    held: list[tuple[int, int]] = []
    for span in spans:
        if held and span[1] - held[0][0] > WINDOW_CHARACTERS:
            yield _window(piece, at, held)
            held = held[-1:] if span[1] - held[-1][0] <= WINDOW_CHARACTERS else []
        held.append(span)
    if held:
        yield _window(piece, at, held)


def _window(piece: Evidence, at: int, spans: Sequence[tuple[int, int]]) -> Window:
    start, end = spans[0][0], spans[-1][1]
    place = replace(piece, start=piece.start + start, end=piece.start + end, text=piece.text[start:end])
    return Window(at, place, tuple(" ".join(piece.text[a:b].split()) for a, b in spans))


def nearest_windows(claim: str, windows: Sequence[Window]) -> list[Window]:
    """Those that share most terms with a claim, as many as are read, best first."""
    return sorted(windows, key=lambda window: -term_share(claim, f"{window.title} {window.text}"))[:WINDOWS_READ]


def _supported(reading: SupportReading) -> float:
    return reading.supported
