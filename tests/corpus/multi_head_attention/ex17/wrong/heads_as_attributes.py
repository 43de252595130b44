# wrong: head0, head1, ... set with setattr instead of a ModuleList
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        for i in range(num_heads):
            setattr(self, f"head{i}", CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        return torch.cat([getattr(self, f"head{i}")(x) for i in range(self.num_heads)], dim=-1)
