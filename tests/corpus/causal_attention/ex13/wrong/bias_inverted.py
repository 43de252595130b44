# wrong: a bias when none is asked for, and none when it is
# named: nothing
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=not qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=not qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=not qkv_bias)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
