"""Encodes questions and texts for the judge, "[CLS] question [SEP] title text [SEP]", in padded batches."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
from torch import Tensor

MAX_TOKENS = 144
QUESTION_TOKENS, TITLE_TOKENS = 40, 16


@dataclass(frozen=True)
class Pair:
    """A question and a text as tokens, with spans of the answer in tokens, end included."""

    ids: list[int]
    types: list[int]
    spans: list[tuple[int, int]]


class Reader:
    """Tokenises questions and texts with the tokenizer in a model's folder."""

    def __init__(self, original: Path, *, max_tokens: int = MAX_TOKENS, question_tokens: int = QUESTION_TOKENS) -> None:
        self.max_tokens, self.question_tokens = max_tokens, question_tokens
        self.tokenizer = tokenizer = tokenizers.Tokenizer.from_file(str(original / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.first, self.last = tokenizer.encode("").ids  # [CLS] and [SEP]

    def pair(self, question: str, passage: Mapping[str, Any], draw: random.Random, *, titled: bool) -> Pair:
        """A pair. Long texts are cut to a window with the answer if it is known, else anywhere."""
        asked = self.tokenizer.encode(question, add_special_tokens=False).ids[: self.question_tokens]
        title = self.tokenizer.encode(passage["title"], add_special_tokens=False).ids[:TITLE_TOKENS] if titled else []
        text = self.tokenizer.encode(passage["text"], add_special_tokens=False)
        spans = [span for span in (tokens_of(text.offsets, *place) for place in passage["spans"]) if span is not None]
        room = self.max_tokens - 3 - len(asked) - len(title)
        start = 0
        if len(text.ids) > room:
            latest = len(text.ids) - room
            if spans:
                begin, end = draw.choice(spans)
                start = draw.randint(max(0, min(latest, end - room + 1)), min(latest, begin))
            elif draw.random() < 0.5:
                start = draw.randint(0, latest)
        body = text.ids[start : start + room]
        ids = [self.first, *asked, self.last, *title, *body, self.last]
        before = 2 + len(asked) + len(title)
        inside = [(b - start + before, e - start + before) for b, e in spans if b >= start and e < start + room]
        return Pair(ids, [0] * (2 + len(asked)) + [1] * (len(ids) - 2 - len(asked)), inside)


def tokens_of(offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """First and last token of a character span; None if it has none."""
    inside = [at for at, (left, right) in enumerate(offsets) if left < end and right > start]
    return (inside[0], inside[-1]) if inside else None


@dataclass(frozen=True)
class Batch:
    """Padded tensors, (texts, tokens); `body` marks the tokens of title and text."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    body: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        return Batch(*(part.to(device) for part in (self.ids, self.types, self.mask, self.body)))


def padded(pairs: Sequence[Pair]) -> Batch:
    """A batch of pairs, padded to the longest."""
    longest = max(len(pair.ids) for pair in pairs)

    def fill(values: Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor([[*row, *[0] * (longest - len(row))] for row in values])

    types = fill([pair.types for pair in pairs])
    return Batch(
        fill([pair.ids for pair in pairs]),
        types,
        fill([[1] * len(pair.ids) for pair in pairs]),
        types.bool(),
    )
