# what: the first outcome is returned in the loop
# pattern: return-in-loop
# causes: 1
# true: first head only
# says: inside|loop|first head
# false: last head
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        blocks = []
        for _ in range(num_heads):
            blocks.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))
        self.heads = nn.ModuleList(blocks)

    def forward(self, x):
        parts = []
        for head in self.heads:
            parts += [head(x)]
            return torch.cat(parts, dim=-1)  # <-
