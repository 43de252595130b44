# wrong: heads of size d_out // num_heads, and added instead of concatenated
# named: heads added + d_out split among the heads
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out // num_heads, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        return sum([head(x) for head in self.heads])
