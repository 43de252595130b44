# wrong: one parameter of shape (d_in, 3 d_out) instead of the three
# named: nothing
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_qkv = nn.Parameter(torch.rand(d_in, 3 * d_out))

    def forward(self, x):
        q, k, v = (x @ self.W_qkv).chunk(3, dim=-1)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
