# right: a base class beside it, extra methods, ValueError
class Parallel(nn.Module):
    """Runs every module on the same input and puts the outputs side by side."""

    def __init__(self, modules):
        super().__init__()
        self.heads = nn.ModuleList(modules)

    def __len__(self):
        return len(self.heads)

    def forward(self, x):
        return torch.cat([m(x) for m in self.heads], dim=-1)


class MultiHeadAttentionWrapper(Parallel):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        if num_heads < 1:
            raise ValueError("num_heads must be positive")
        super().__init__(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def extra_repr(self):
        return f"num_heads={len(self)}"
