# wrong: the last einsum has no letter for the queries in its result, and sums over them
# named: words summed
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.einsum("qd,kd->qk", q, k) / math.sqrt(q.shape[-1])
        return torch.einsum("qk,kd->d", torch.softmax(scores, dim=-1), v)
