# wrong: hidden by -1000, which is more than many a score
# named: nothing
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("d_out")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), 1).bool())

    def forward(self, x):
        q, k, v = (f(x).unflatten(2, (self.num_heads, -1)) for f in (self.W_query, self.W_key, self.W_value))
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
        T = x.shape[1]
        s = s.masked_fill(self.mask[:T, :T], -1000.0)
        return self.out_proj(torch.einsum("bhqk,bkhd->bqhd", self.drop(s.softmax(-1)), v).flatten(2))
