# wrong: pow(d, 1) / 2 instead of pow(d, 1 / 2)
# named: half the length
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((context_length, context_length), float("-inf")).triu(1))

    def forward(self, x):
        _, T, _ = x.shape
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        scores = torch.einsum("bqd,bkd->bqk", q, k)
        scores = scores / (pow(k.size(-1), 1) / 2) + self.mask[:T, :T]
        weights = self.dropout(scores.softmax(dim=-1))
        return torch.einsum("bqk,bkd->bqd", weights, v)
