# right: a helper for one sequence, applied to each with a comprehension, typed
def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, hidden: torch.Tensor, drop: nn.Module) -> torch.Tensor:
    scores = (q @ k.T / math.sqrt(k.shape[1])).masked_fill(hidden, -math.inf)
    return drop(torch.softmax(scores, dim=1)) @ v


class CausalAttention(nn.Module):
    """Causal attention with dropout."""

    mask: torch.Tensor

    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False) -> None:
        super().__init__()
        self.context_length = context_length
        for name in ("W_query", "W_key", "W_value"):
            self.add_module(name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(context_length)
        self.register_buffer("mask", position[None, :] > position[:, None])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        T = x.shape[1]
        if T > self.context_length:
            raise ValueError("sequence is longer than context_length")
        hidden = self.mask[:T, :T]
        parts = zip(self.W_query(x), self.W_key(x), self.W_value(x))
        return torch.stack([attend(q, k, v, hidden, self.dropout) for q, k, v in parts])
