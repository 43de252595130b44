# wrong: the scale is the root of 2, the notebook's d_out
# named: divided by √2
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.scale = math.sqrt(2)  # d_out

    def forward(self, x):
        q = self.W_query(x) / self.scale
        k = self.W_key(x)
        return torch.softmax(q @ k.T, dim=-1) @ self.W_value(x)
