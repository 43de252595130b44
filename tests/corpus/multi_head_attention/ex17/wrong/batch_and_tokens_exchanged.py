# wrong: x is transposed to (T, B, d_in) and back: attention over the batch
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        x = x.transpose(0, 1)
        out = torch.cat([head(x) for head in self.heads], dim=-1)
        return out.transpose(0, 1)
