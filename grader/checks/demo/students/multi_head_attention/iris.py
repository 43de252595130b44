# One head for all, and no gradient.
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)] * num_heads
        )

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.H, self.d = num_heads, d_out // num_heads
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.out_proj = nn.Linear(d_out, d_out)
        self.drop = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length, dtype=torch.bool).triu(1)
        self.register_buffer("mask", future)

    def split(self, y):
        return y.reshape(y.shape[0], y.shape[1], self.H, self.d)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))
        energy = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.d)
        energy = energy.masked_fill(self.mask[:T, :T], float("-inf"))
        attention = self.drop(energy.softmax(dim=-1))
        out = torch.einsum("bhqk,bkhd->bqhd", attention, v.data)
        return self.out_proj(out.flatten(2))
