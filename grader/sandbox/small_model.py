"""A language model that is given to a student's function. It can tell whether it is in training."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn


def small_shapes(vocab_size: int, d_model: int, context_length: int) -> dict[str, tuple[int, ...]]:
    """Of all its parameters, by name."""
    return {
        "tokens.weight": (vocab_size, d_model),
        "positions.weight": (context_length, d_model),
        "quiet.weight": (d_model, d_model),
        "quiet.bias": (d_model,),
        "head.weight": (vocab_size, d_model),
    }


class SmallModel(nn.Module):
    """Each position knows of the mean of what came before. In training, dropout takes one part away altogether."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
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

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (B, T). Returns (B, T, vocab_size)."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) * (1 + self.positions(places)).cos()  # (B, T, d_model)
        x = x + x.cumsum(1) / (places[:, None] + 1)
        x = x + self.dropout(self.quiet(x).sin())
        return self.head(x.tanh())  # type: ignore[no-any-return]
