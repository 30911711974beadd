"""The bundled judge: a small cross-encoder with three heads, in int8, through ONNX Runtime and tokenizers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from thresher.deadline import Allow, watch
from thresher.models.running import LeastRecentlyUsed, WeightsFolder, encodable, run_each
from thresher.types import LOGIT, Reading, Score, SupportReading

if TYPE_CHECKING:
    import tokenizers
    from numpy.typing import NDArray

_WEIGHTS = Path(__file__).resolve().parent / "weights"
BUNDLED_JUDGE = _WEIGHTS / "thresher-judge-int8"
BUNDLED_CHECKER = _WEIGHTS / "thresher-checker-int8"
"""Trained on claims with a text: the text supports the claim, denies it, or neither."""

MAX_TOKENS = 256  # question, title and text together; trained at 144 and measured at both
QUESTION_TOKENS, TITLE_TOKENS = 64, 16  # of longer ones the beginning is read
CLAIM_TOKENS = 96  # of a claim, as it was trained: what is wrong may stand at its end
OVERLAP_TOKENS = 32  # shared by two windows of a long text, so that an answer is whole in one of them
SPAN_TOKENS = 30  # of an answer at most: 20 words
Value = TypeVar("Value")
BLANK_LINE = re.compile(r"\n\s*\n")
REMEMBERED = 4096  # readings: the chunks and sentences of a few questions, which several parts read again

Pair = tuple[str, str, str]
"""Question or claim, title, text."""


class Memory(Protocol):
    """Remembers the readings of a model."""

    def get(self, keys: Iterable[Pair]) -> dict[Pair, Any]:
        """Those that are known."""
        ...

    def put(self, values: Mapping[Pair, Any]) -> None:
        """Remember readings."""
        ...


Remember = Callable[[WeightsFolder, type], Memory]
"""The memory of a model for one form of its readings."""


def for_a_while(model: WeightsFolder, form: type) -> Memory:
    """The last readings of this process."""
    return LeastRecentlyUsed(REMEMBERED)


class BundledJudge(WeightsFolder):
    """Questions and texts to readings, with a folder that holds onnx/model.onnx and tokenizer.json.

    A text of more than `MAX_TOKENS` tokens is read in windows that overlap: the most relevant one counts.
    """

    model_file, tool = "onnx/model.onnx", "research/export_judge.py"

    def __init__(
        self, folder: Path = BUNDLED_JUDGE, *, threads: int | None = None, remember: Remember = for_a_while
    ) -> None:
        super().__init__(folder, threads)
        self._known, self._checked = remember(self, Reading), remember(self, SupportReading)

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One logit per text, in their order."""
        return [Score(reading.relevance, LOGIT) for reading in self.read(question, texts)]

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        """One reading per text, in their order; a title is read before its text and holds no answer.

        Raises BudgetSpent between two texts when the question's seconds are over.
        """
        return self._each(self._known, partial(self._read, allow=watch()), question, texts, titles)

    def check(self, claim: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[SupportReading]:
        """The support of each text for a claim, in their order; of a long one the window that supports it most.

        Raises BudgetSpent between two texts when the question's seconds are over.
        """
        return self._each(self._checked, partial(self._check, allow=watch()), claim, texts, titles)

    def _each(
        self,
        known_before: Memory,
        read: Callable[[Pair], Value],
        question: str,
        texts: Sequence[str],
        titles: Sequence[str] | None,
    ) -> list[Value]:
        """`read` of each text, remembered, over the cores, which are shared with other questions."""
        keys = [(question, title, text) for title, text in zip(titles or [""] * len(texts), texts, strict=True)]
        known: dict[Pair, Value] = known_before.get(keys)
        # The longest first, so that no thread begins a long text when the others have nothing left to do.
        new = sorted((key for key in dict.fromkeys(keys) if key not in known), key=lambda key: -len(key[2]))
        known |= zip(new, run_each(read, new, threads=self._threads), strict=True)
        known_before.put(known)
        return [known[key] for key in keys]

    def _read(self, key: Pair, allow: Allow) -> Reading:
        allow()
        text = encodable(key[2])
        readings = []
        for (logits, support, spans), offsets in self._run(key, QUESTION_TOKENS, ("logits", "support", "spans")):
            place = _best_span(spans[0, -len(offsets) - 1 : -1], offsets, text)
            readings.append(Reading(float(logits[0, 0]), float(support[0, 0]), *place))
        return max(readings, key=lambda reading: reading.relevance)

    def _check(self, key: Pair, allow: Allow) -> SupportReading:
        allow()
        readings = []
        for (support, denial), _ in self._run(key, CLAIM_TOKENS, ("support", "denial")):
            odds = np.exp(np.array([support[0, 0], denial[0, 0], 0.0]) - max(support[0, 0], denial[0, 0], 0.0))
            supported, contradicted, _ = (odds / odds.sum()).tolist()
            readings.append(SupportReading(supported, contradicted))
        return max(readings, key=lambda reading: reading.supported)

    def _run(
        self, key: Pair, most: int, outputs: Sequence[str]
    ) -> Iterator[tuple[list[NDArray[np.float32]], list[tuple[int, int]]]]:
        """The model's outputs for each window of a text, and where the window's tokens stand in it."""
        question, title, text = (encodable(part) for part in key)
        loaded = self._load()
        question_tokens = _tokens(loaded.tokenizer, question).ids[:most]
        above = _tokens(loaded.tokenizer, title).ids[:TITLE_TOKENS] if title else []
        body = _tokens(loaded.tokenizer, text)
        head = [loaded.first, *question_tokens, loaded.last]
        for start, end in windows_of_tokens(len(body.ids), MAX_TOKENS - len(head) - len(above) - 1):
            ids = np.array([[*head, *above, *body.ids[start:end], loaded.last]], np.int64)
            types = np.zeros_like(ids)
            types[:, len(head) :] = 1
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
            yield loaded.session.run(list(outputs), inputs), body.offsets[start:end]


def _tokens(tokenizer: tokenizers.Tokenizer, text: str) -> tokenizers.Encoding:
    return tokenizer.encode(text, add_special_tokens=False)


def windows_of_tokens(count: int, room: int) -> list[tuple[int, int]]:
    """Begin and end of as few windows as cover the tokens with the overlap, all as long; one for an empty text."""
    if count <= room:
        return [(0, count)]
    pieces = -(-(count - OVERLAP_TOKENS) // (room - OVERLAP_TOKENS))
    size = -(-(count + OVERLAP_TOKENS * (pieces - 1)) // pieces)
    starts = [(count - size) * piece // (pieces - 1) for piece in range(pieces)]
    return [(start, start + size) for start in starts]


def _best_span(logits: NDArray[np.float32], offsets: Sequence[tuple[int, int]], text: str) -> tuple[int, int, float]:
    """Begin, end (code points) and probability of the likeliest place of at most `SPAN_TOKENS` tokens.

    It crosses no blank line: a heading and what stands below it are not one answer.
    """
    if not len(logits):
        return 0, 0, 0.0
    paragraphs = np.searchsorted([gap.start() for gap in BLANK_LINE.finditer(text)], [start for start, _ in offsets])
    shares = logits - logits.max(axis=0)
    shares = np.exp(shares) / np.exp(shares).sum(axis=0)
    joint = np.tril(np.triu(np.outer(shares[:, 0], shares[:, 1])), SPAN_TOKENS - 1)
    joint *= paragraphs[:, None] == paragraphs
    first, last = divmod(int(joint.argmax()), joint.shape[1])
    return offsets[first][0], offsets[last][1], float(joint[first, last])
