# wrong: the batch is flattened into one long sequence
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        b, t, d = x.shape
        flat = x.reshape(1, b * t, d)
        out = torch.cat([head(flat) for head in self.heads], dim=-1)
        return out.view(b, t, -1)
