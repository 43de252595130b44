# wrong: each row of scores is divided by its sum, there is no softmax
# named: divided by the sum
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        scores = (q @ k.T).div(k.shape[-1] ** 0.5)
        totals = scores.sum(dim=1).unsqueeze(1)  # (T, 1)
        return (scores / totals) @ v
