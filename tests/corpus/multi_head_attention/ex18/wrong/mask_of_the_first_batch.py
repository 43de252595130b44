# wrong: the mask is as large as the first batch
# named: nothing
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("d_out must be divisible by num_heads")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        T = x.shape[1]
        layers = (self.W_query, self.W_key, self.W_value)
        queries, keys, values = (layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for layer in layers)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5
        if not hasattr(self, "hidden") or self.hidden.shape[-1] != T:
            self.hidden = self.mask[:T, :T].bool().repeat(len(x), self.num_heads, 1, 1)
        weights = torch.softmax(scores.masked_fill(self.hidden, float("-inf")), dim=-1)
        return self.out_proj((self.dropout(weights) @ values).transpose(1, 2).flatten(2))
