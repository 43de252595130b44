# right: torch.where instead of masked_fill, permute, type hints
from typing import Optional

from torch import Tensor


class SelfAttention(nn.Module):
    """Attention of a query sequence to another sequence."""

    def __init__(self, embed_size: int, heads: int) -> None:
        super().__init__()
        if embed_size % heads:
            raise ValueError(f"{heads} heads do not divide {embed_size}")
        self.heads: int = heads
        self.head_dim: int = embed_size // heads
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.values = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values: Tensor, keys: Tensor, query: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        cut = (self.heads, self.head_dim)
        v = self.values(values).unflatten(-1, cut).permute(0, 2, 1, 3)
        k = self.keys(keys).unflatten(-1, cut).permute(0, 2, 3, 1)  # (N, H, d, K)
        q = self.queries(query).unflatten(-1, cut).permute(0, 2, 1, 3)
        energy = torch.matmul(q, k) * self.head_dim**-0.5
        if mask is not None:
            energy = torch.where(mask != 0, energy, float("-inf"))
        return self.fc_out((energy.softmax(-1) @ v).permute(0, 2, 1, 3).flatten(start_dim=2))
