# right: rearranged with movedim, size checked by assert
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert num_heads > 0, "at least one head"
        heads = []
        while len(heads) < num_heads:
            heads += [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)]
        self.heads = nn.ModuleList(heads)

    def forward(self, x):
        z = torch.stack([head(x) for head in self.heads], -1)  # (B, T, d_out, H)
        return z.movedim(-1, -2).flatten(start_dim=-2)
