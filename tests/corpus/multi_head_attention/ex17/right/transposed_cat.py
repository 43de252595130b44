# right: concatenated in the middle of the transposed outputs
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        columns = torch.cat([head(x).transpose(1, 2) for head in self.heads], dim=1)  # (B, H * d_out, T)
        return columns.transpose(1, 2)
