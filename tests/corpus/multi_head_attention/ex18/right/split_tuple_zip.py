# right: torch.split and zip over the heads, F.dropout(training=self.training)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.size, rest = divmod(d_out, num_heads)
        if rest:
            raise ValueError("num_heads has to divide d_out")
        self.p = dropout
        self.out_proj = nn.Linear(d_out, d_out)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length, dtype=torch.uint8), 1))

    def one_head(self, q, k, v):
        T = q.size(-2)
        s = q @ k.transpose(-1, -2) / self.size**0.5
        s.masked_fill_(self.mask[:T, :T] == 1, float("-inf"))
        w = F.dropout(F.softmax(s, -1), p=self.p, training=self.training)
        return w @ v

    def forward(self, x):
        q, k, v = (torch.split(f(x), self.size, dim=-1) for f in (self.W_query, self.W_key, self.W_value))
        return self.out_proj(torch.cat([self.one_head(*qkv) for qkv in zip(q, k, v)], dim=-1))
