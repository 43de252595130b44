# wrong: the scores are keys times keys, the queries are never made
# named: keys as queries
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        K, V = self.W_key(x), self.W_value(x)
        S = K @ K.transpose(-2, -1)
        S = S / math.sqrt(K.size(-1))
        return S.softmax(dim=-1).matmul(V)
