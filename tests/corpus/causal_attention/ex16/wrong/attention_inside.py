# wrong: a SelfAttention_v2 inside, so the parameters are called attention.W_query.weight and so on
# named: nothing
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.attention = SelfAttention_v2(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.attention.W_query(x), self.attention.W_key(x), self.attention.W_value(x)
        scores = (q @ k.transpose(1, 2)).masked_fill(self.mask[:T, :T].bool(), -torch.inf)
        return self.dropout(torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1)) @ v
