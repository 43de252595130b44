# right: the output grows by one head at a time
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        out = self.heads[0](x)
        for head in self.heads[1:]:
            out = torch.cat((out, head(x)), dim=-1)
        return out
