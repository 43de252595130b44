# right: each head padded into its block of the output and added up
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        out = 0
        for i, head in enumerate(self.heads):
            z = head(x)
            d = z.shape[-1]
            out = out + F.pad(z, (i * d, (self.num_heads - 1 - i) * d))
        return out
