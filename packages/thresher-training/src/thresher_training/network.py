"""The judge as a torch network: a BERT with three heads; weights are named as in transformers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WARM_UP = 0.06
"""Share of steps with a rising learning rate."""

VERDICTS = ("logits", "support", "denial")
"""Outputs of the exported file for a whole text: relevance, support, denial."""

Config = Mapping[str, Any]
"""The config.json of a BERT."""


class Embeddings(nn.Module):
    """Word plus position plus token type embeddings, normalised."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width)
        self.token_type_embeddings = nn.Embedding(config["type_vocab_size"], width)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        """(texts, tokens, width)."""
        places = self.position_embeddings.weight[: ids.shape[1]]
        return self.dropout(self.LayerNorm(self.word_embeddings(ids) + self.token_type_embeddings(types) + places))


class Heads(nn.Module):
    """Multi-head attention."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """The same shape. Without dropout, which costs a fifth of a step on a CPU and prevents the fast attention."""

        def split(values: Tensor) -> Tensor:
            return values.view(*values.shape[:2], self.heads, -1).transpose(1, 2)

        query, key, value = split(self.query(hidden)), split(self.key(hidden)), split(self.value(hidden))
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return attended.transpose(1, 2).flatten(2)


class Residual(nn.Module):
    """A linear layer with residual and normalisation."""

    def __init__(self, config: Config, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, config["hidden_size"])
        self.LayerNorm = nn.LayerNorm(config["hidden_size"], eps=config["layer_norm_eps"])
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])

    def forward(self, values: Tensor, before: Tensor) -> Tensor:
        """(texts, tokens, width)."""
        return self.LayerNorm(self.dropout(self.dense(values)) + before)


class Layer(nn.Module):
    """Attention, then the feed-forward pair."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        self.attention = nn.ModuleDict({"self": Heads(config), "output": Residual(config, width)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = Residual(config, inner)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """The same shape."""
        hidden = self.attention["output"](self.attention["self"](hidden, mask), hidden)
        return self.output(functional.gelu(self.intermediate["dense"](hidden)), hidden)


class Body(nn.Module):
    """The layers of a BERT."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": layers})

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """(texts, tokens, width)."""
        hidden = self.embeddings(ids, types)
        read = mask[:, None, None, :].bool()
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, read)
        return hidden


class Judge(nn.Module):
    """A BERT, or another body, with heads for relevance, support and denial of a text, and begin and end of a span."""

    def __init__(self, config: Config, body: nn.Module | None = None) -> None:
        super().__init__()
        self.body = body or Body(config)
        width = config["hidden_size"]
        self.pool = nn.Linear(2 * width, width)
        self.verdicts = nn.Linear(width, len(VERDICTS))
        self.spans = nn.Linear(width, 2)
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(texts, 3) relevance, support and denial; (texts, tokens, 2) begin and end.

        Support and denial are log odds against "neither": a softmax over them and 0 gives the three probabilities.
        """
        hidden = self.body(ids, types, mask)
        weights = mask[..., None].to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        pooled = torch.tanh(self.pool(torch.cat([hidden[:, 0], mean], dim=1)))
        return self.verdicts(self.dropout(pooled)).float(), self.spans(hidden).float()

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device


def mixed(device: torch.device) -> AbstractContextManager[Any]:
    """Autocast to bfloat16."""
    context: AbstractContextManager[Any] = torch.autocast(device.type, dtype=torch.bfloat16)
    return context


def optimiser(judge: Judge, rates: Iterable[float]) -> torch.optim.AdamW:
    """AdamW with learning rates of matrices, of weights without decay, and of the heads.

    Word vectors are frozen: training meets few of them, and they are half of the weights.
    """
    judge.body.embeddings.word_embeddings.weight.requires_grad_(False)
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    heads: list[nn.Parameter] = []
    for name, weight in judge.named_parameters():
        if weight.requires_grad:
            group = heads if not name.startswith("body") else (decayed if weight.ndim > 1 else plain)
            group.append(weight)
    groups = zip((decayed, plain, heads), rates, (0.01, 0.0, 0.01), strict=True)
    parameters = [{"params": group, "lr": rate, "weight_decay": decay} for group, rate, decay in groups]
    return torch.optim.AdamW(parameters, betas=(0.9, 0.98), fused=True)


def rate(step: int, steps: int) -> float:
    """Factor of the learning rate: linear warm-up, then cosine."""
    warm = max(1, int(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


# --- losses -----------------------------------------------------------------------------------------------------------


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
