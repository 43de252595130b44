# wrong: softmax in a method for the weights, and once more in forward
# named: softmax twice
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.softmax = nn.Softmax(dim=-1)

    def attention(self, x):
        q, k = self.W_query(x), self.W_key(x)
        return self.softmax(q @ k.T / math.sqrt(k.shape[-1]))

    def forward(self, x):
        weights = self.softmax(self.attention(x))
        return weights @ self.W_value(x)
