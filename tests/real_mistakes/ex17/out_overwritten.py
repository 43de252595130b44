# what: the outputs of the heads replace one another
# pattern: overwrites
# causes: 1
# true: last head only
# says: last|overwrit|each step
# false: first head
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        blocks = []
        for _ in range(num_heads):
            blocks.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))
        self.heads = nn.ModuleList(blocks)

    def forward(self, x):
        out = x
        for layer in self.heads:
            out = layer(x)  # <-
        return out
