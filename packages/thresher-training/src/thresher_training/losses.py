"""Losses that the trainings have in common."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional


def span_loss(logits: Tensor, body: Tensor, spans: Sequence[tuple[int, int]]) -> Tensor:
    """Minus the logarithm of the probability of all places together; only the text's tokens can be chosen."""
    scores = functional.log_softmax(logits.masked_fill(~body[:, None], -1e4), dim=0)
    return -torch.logsumexp(torch.stack([scores[begin, 0] + scores[end, 1] for begin, end in spans]), dim=0)


def mean(parts: Sequence[Tensor], zero: Tensor) -> Tensor:
    """Of the parts, or a zero that has a gradient."""
    return torch.stack(list(parts)).mean() if parts else zero
