"""The attention that the transformer notebook provides: causal, with several heads, and the names of its layers."""

from __future__ import annotations

import torch
from torch import nn

Tensor = torch.Tensor


class GivenAttention(nn.Module):
    """Like the notebook's `Attention(d_model, num_heads)`."""

    def __init__(self, d_model: int, num_heads: int, causal: bool = True) -> None:
        super().__init__()
        self.num_heads, self.causal = num_heads, causal
        self.project = nn.Linear(d_model, 3 * d_model, bias=False)
        self.combine = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        heads = self.project(x).unflatten(-1, (3, self.num_heads, -1))  # (B, T, 3, H, d)
        queries, keys, values = heads.permute(2, 0, 3, 1, 4)  # (B, H, T, d) each
        mixed = nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=self.causal)
        return self.combine(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


def attention_shapes(d_model: int) -> dict[str, list[int]]:
    """The shapes of its parameters, by name."""
    return {
        "project.weight": [3 * d_model, d_model],
        "combine.weight": [d_model, d_model],
        "combine.bias": [d_model],
    }


def block_shapes(d_model: int, d_ff: int) -> dict[str, list[int]]:
    """The shapes of the parameters of exercise 24's block, by name."""
    shapes = {f"attention.{name}": shape for name, shape in attention_shapes(d_model).items()}
    shapes |= {"ff_in.weight": [d_ff, d_model], "ff_in.bias": [d_ff]}
    shapes |= {"ff_out.weight": [d_model, d_ff], "ff_out.bias": [d_model]}
    return shapes | {f"norm{i}.{name}": [d_model] for i in (1, 2) for name in ("weight", "bias")}
