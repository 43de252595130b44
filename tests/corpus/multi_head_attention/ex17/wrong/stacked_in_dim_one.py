# wrong: torch.stack with dim=1 gives (B, num_heads, T, d_out)
# named: stacked before the words
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList()
        for _ in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        results = []
        for head in self.heads:
            results.append(head(x))
        return torch.stack(results, dim=1)
