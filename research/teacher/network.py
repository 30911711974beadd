"""The teacher as a torch network: the layers of MPNet (Song et al. 2020) under the judge's heads.

It reads the judge's tokens. MPNet has no token types; where two tokens stand to each other is a bias of the attention,
one for all layers.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from thresher_training.network import Config, Judge, Layer

FARTHEST = 128
"""Distance in tokens from which all are one."""
HIDDEN = -1e4
"""Added to the attention to padding; within the range of half floats."""


class Words(nn.Module):
    """Word plus position embeddings, normalised."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])

    def forward(self, ids: Tensor) -> Tensor:
        """(texts, tokens, width)."""
        places = self.position_embeddings.weight[: ids.shape[1]]
        return self.dropout(self.LayerNorm(self.word_embeddings(ids) + places))


class MPNet(nn.Module):
    """The layers of MPNet."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embeddings = Words(config)
        layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        bias = nn.Embedding(config["relative_attention_num_buckets"], config["num_attention_heads"])
        self.encoder = nn.ModuleDict({"layer": layers, "relative_attention_bias": bias})

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """(texts, tokens, width); `types` are not read."""
        hidden, near = self.embeddings(ids), self.near(ids.shape[1])
        read = near + HIDDEN * (1 - mask[:, None, None, :].to(near.dtype))
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, read)
        return hidden

    def near(self, tokens: int) -> Tensor:
        """(1, heads, tokens, tokens): what is added to the attention of one token to another."""
        bias: nn.Embedding = self.encoder["relative_attention_bias"]
        at = torch.arange(tokens, device=bias.weight.device)
        return bias(buckets(at[None, :] - at[:, None], bias.num_embeddings)).permute(2, 0, 1)[None]


def buckets(distance: Tensor, number: int) -> Tensor:
    """The bucket of each distance, half of them ahead: single ones near, then logarithmic (Raffel et al. 2020)."""
    half = number // 2
    exact = half // 2
    ahead, far = (distance > 0).long() * half, distance.abs()
    wide = exact + (torch.log(far.clamp(min=1) / exact) / math.log(FARTHEST / exact) * (half - exact)).long()
    return ahead + torch.where(far < exact, far, wide.clamp(max=half - 1))


def teacher(folder: Path, run: Path | None = None) -> Judge:
    """MPNet with the weights that `research.teacher.weights` wrote; what a run trained, or heads that know nothing."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    body = MPNet(config)
    weights: dict[str, Tensor] = {}
    for piece in sorted(folder.glob("weights-*.npz")):
        with np.load(piece) as arrays:
            weights |= {name: torch.as_tensor(arrays[name]).float() for name in arrays.files}
    body.load_state_dict(weights)
    judge = Judge(config, body)
    if run:
        judge.load_state_dict(torch.load(run, map_location="cpu"), strict=False)  # words stay as they were
    return judge
