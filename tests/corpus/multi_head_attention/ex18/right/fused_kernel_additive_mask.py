# right: F.scaled_dot_product_attention with an additive float mask of -inf as the buffer
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
        self.register_buffer("mask", torch.full((context_length, context_length), -torch.inf).triu(1))

    def heads(self, y):
        return y.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x):
        T = x.size(1)
        q, k, v = map(self.heads, (self.W_query(x), self.W_key(x), self.W_value(x)))
        z = F.scaled_dot_product_attention(
            q, k, v, self.mask[:T, :T].to(q.dtype), self.dropout.p if self.training else 0
        )
        return self.out_proj(z.movedim(1, 2).flatten(2))
