# right: one product with the three weights concatenated in forward, then chunk
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril().bool())

    def forward(self, x):
        layers = [self.W_query, self.W_key, self.W_value]
        weight = torch.cat([layer.weight for layer in layers], dim=0)  # (3 d_out, d_in)
        bias = None
        if self.W_query.bias is not None:
            bias = torch.cat([layer.bias for layer in layers])
        qkv = F.linear(x, weight, bias).unflatten(2, (3, self.num_heads, -1))  # (B, T, 3, H, d)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (B, H, T, d)
        T = x.shape[1]
        scores = q @ k.mT * k.shape[-1] ** -0.5
        weights = scores.where(self.mask[:T, :T], -math.inf).softmax(-1)
        z = self.dropout(weights) @ v
        return self.out_proj(z.transpose(1, 2).flatten(2))
