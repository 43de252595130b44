# wrong: transposes each head, joins on dim 1 and does not transpose back
# named: result transposed
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for h in range(num_heads)]
        )

    def forward(self, x):
        # heads are stacked vertically, as in the first assignment
        columns = [head(x).transpose(1, 2) for head in self.heads]  # (B, d_out, T)
        return torch.cat(columns, dim=1)
