# right: inherits the layers and the mask of the given CausalAttention
class MultiHeadAttention(CausalAttention):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.p = dropout
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        T = x.shape[1]
        future = torch.arange(T, device=x.device) > torch.arange(T, device=x.device).unsqueeze(1)
        weights = F.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        weights = F.dropout(weights, self.p, self.training)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))
