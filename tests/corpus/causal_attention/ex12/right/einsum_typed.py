# right: einsum, type hints, a docstring
class SelfAttention_v1(nn.Module):
    """Self-attention with trainable weights."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.scale: float = d_out**-0.5
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = torch.einsum("ti,io->to", x, self.W_query)
        k = torch.einsum("ti,io->to", x, self.W_key)
        v = torch.einsum("ti,io->to", x, self.W_value)
        weights = (torch.einsum("qo,ko->qk", q, k) * self.scale).softmax(dim=-1)
        return torch.einsum("qk,ko->qo", weights, v)
