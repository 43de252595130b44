# wrong: one layer for all three
# named: nothing
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = self.W_qkv(x).chunk(3, dim=-1)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
