# right: inherits from SelfAttention_v1, but makes layers instead of its parameters
class SelfAttention_v2(SelfAttention_v1):
    def __init__(self, d_in, d_out, qkv_bias=False):
        nn.Module.__init__(self)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        weights = softmax_stable(queries @ keys.T / keys.shape[1] ** 0.5, dim=1)
        return weights @ values
