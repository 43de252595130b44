# wrong: / keys.shape[-1] ** 1 / 2 divides by the length and by 2
# named: divided twice by half
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        hidden = self.mask.bool()[:num_tokens, :num_tokens]
        attn_scores = (queries @ keys.mT).masked_fill(hidden, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 1/2, dim=-1)
        return self.dropout(attn_weights) @ values
