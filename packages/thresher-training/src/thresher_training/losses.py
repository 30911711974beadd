"""Losses shared by the trainings."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional


def span_loss(logits: Tensor, body: Tensor, spans: Sequence[tuple[int, int]]) -> Tensor:
    """Negative log probability of all correct spans together; only tokens of the text can be chosen."""
    scores = functional.log_softmax(logits.masked_fill(~body[:, None], -1e4), dim=0)
    return -torch.logsumexp(torch.stack([scores[begin, 0] + scores[end, 1] for begin, end in spans]), dim=0)


LABELS = {"unverified": 0, "supported": 1, "contradicted": 2, "not supported": 3}
"""Labels of a claim; "not supported" is unverified or contradicted, if it is not known which."""


def support_loss(verdicts: Tensor, labels: Tensor) -> Tensor:
    """(claims,) cross-entropy of (claims, 2) support and denial logits against "neither" (0); `labels` as in LABELS."""
    shares = functional.log_softmax(functional.pad(verdicts, (1, 0)), dim=1)
    exact = shares.gather(1, labels.clamp(max=2)[:, None])[:, 0]
    return -torch.where(labels < 3, exact, torch.logsumexp(shares[:, [0, 2]], dim=1))


def mean(parts: Sequence[Tensor], zero: Tensor) -> Tensor:
    """Mean of the parts, or a zero with a gradient."""
    return torch.stack(list(parts)).mean() if parts else zero
