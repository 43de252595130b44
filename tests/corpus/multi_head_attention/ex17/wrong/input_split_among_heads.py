# wrong: each head sees only its part of the input features
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.append(CausalAttention(d_in // num_heads, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        outputs = []
        parts = x.chunk(self.num_heads, dim=-1)
        for part, head in zip(parts, self.heads):
            outputs.append(head(part))
        out = torch.cat(outputs, dim=2)
        return out
