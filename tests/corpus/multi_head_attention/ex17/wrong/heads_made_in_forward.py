# wrong: the heads are made anew in every forward: random weights, nothing to train
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.args = (d_in, d_out, context_length, dropout, qkv_bias)
        self.num_heads = num_heads

    def forward(self, x):
        heads = [CausalAttention(*self.args) for _ in range(self.num_heads)]
        return torch.cat([head(x) for head in heads], dim=-1)
