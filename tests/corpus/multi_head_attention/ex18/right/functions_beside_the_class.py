# right: helper functions beside the class, type hints
from torch import Tensor


def split_heads(y: Tensor, num_heads: int) -> Tensor:
    B, T, D = y.shape
    return y.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)


def merge_heads(z: Tensor) -> Tensor:
    return z.permute(0, 2, 1, 3).flatten(start_dim=-2)


def causal_weights(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    n = q.shape[-2]
    scores = q.matmul(k.transpose(-1, -2)).div(math.sqrt(k.shape[-1]))
    return scores.masked_fill(mask[:n, :n], float("-inf")).softmax(dim=-1)


class MultiHeadAttention(nn.Module):
    """Causal self-attention with several heads in one projection."""

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"d_out={d_out}, num_heads={num_heads}")
        self.num_heads = num_heads
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        ones = torch.ones(context_length, context_length, dtype=torch.bool)
        self.register_buffer("mask", ones.triu(diagonal=1))

    def forward(self, x: Tensor) -> Tensor:
        q = split_heads(self.W_query(x), self.num_heads)
        k = split_heads(self.W_key(x), self.num_heads)
        v = split_heads(self.W_value(x), self.num_heads)
        z = self.dropout(causal_weights(q, k, self.mask)) @ v
        return self.out_proj(merge_heads(z))
