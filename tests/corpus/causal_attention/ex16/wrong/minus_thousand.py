# wrong: hidden by -1000, which is more than many a score
# named: nothing
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.register_buffer("mask", torch.ones(context_length, context_length, dtype=torch.bool).tril())
        self.drop = nn.Dropout(dropout)
        self.W_value, self.W_key, self.W_query = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        s = torch.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5
        w = torch.where(self.mask[:T, :T], s, -1000.0).softmax(-1)
        return torch.einsum("bqk,bkd->bqd", self.drop(w), v)
