# right: torch.vmap over the heads of one function
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def head(self, q, k, v):
        T = q.shape[1]
        scores = q @ k.transpose(1, 2) / math.sqrt(self.head_dim)
        weights = scores.masked_fill(self.mask[:T, :T].bool(), -torch.inf).softmax(-1)
        return self.dropout(weights) @ v

    def forward(self, x):
        cut = (self.num_heads, self.head_dim)
        q, k, v = (f(x).unflatten(-1, cut) for f in (self.W_query, self.W_key, self.W_value))
        heads = torch.vmap(self.head, in_dims=2, out_dims=2, randomness="different")
        return self.out_proj(heads(q, k, v).flatten(2))
