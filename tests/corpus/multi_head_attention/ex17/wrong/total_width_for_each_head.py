# wrong: the width of the whole result, d_out * num_heads, is given to each head
# named: wide heads
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        d_total = d_out * num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_total, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)
