"""A small language model, for functions that write with one or train it. It can tell whether it is in training."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

Tensor = torch.Tensor


def small_shapes(vocab_size: int, d_model: int, context_length: int) -> dict[str, tuple[int, ...]]:
    """The shapes of all parameters of a `SmallModel`, by name."""
    return {
        "tokens.weight": (vocab_size, d_model),
        "positions.weight": (context_length, d_model),
        "quiet.weight": (d_model, d_model),
        "quiet.bias": (d_model,),
        "head.weight": (vocab_size, d_model),
    }


class SmallModel(nn.Module):
    """A model in which each position sees the mean of those before. In training, dropout removes one part entirely."""

    context_length: int  # students' code may read what is named here

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        vocab_size, d_model = weights["tokens.weight"].shape
        self.context_length = len(weights["positions.weight"])
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(self.context_length, d_model)
        self.quiet = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(1.0)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(weights[name])
        first = weights["tokens.weight"]
        self.to(first.device, first.dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: (B, T). Returns (B, T, vocab_size)."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) * (1 + self.positions(positions)).cos()  # (B, T, d_model)
        x = x + x.cumsum(1) / (positions[:, None] + 1)
        x = x + self.dropout(self.quiet(x).sin())
        return self.head(x.tanh())  # type: ignore[no-any-return]
