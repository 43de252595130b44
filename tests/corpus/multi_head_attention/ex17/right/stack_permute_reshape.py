# right: heads stacked first, permuted, reshaped, type hints
from torch import Tensor


class MultiHeadAttentionWrapper(nn.Module):
    """Several causal attention heads side by side."""

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
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias=qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x: Tensor) -> Tensor:
        out = torch.stack([head(x) for head in self.heads])  # (H, B, T, d_out)
        H, B, T, d = out.shape
        return out.permute(1, 2, 0, 3).reshape(B, T, H * d)
