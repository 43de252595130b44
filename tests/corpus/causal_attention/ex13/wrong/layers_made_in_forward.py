# wrong: new layers at every call
# named: nothing
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.sizes = (d_in, d_out, qkv_bias)

    def forward(self, x):
        self.W_query = nn.Linear(*self.sizes)
        self.W_key = nn.Linear(*self.sizes)
        self.W_value = nn.Linear(*self.sizes)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
