# wrong: new random weights at every call
# named: nothing
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_in = d_in
        self.d_out = d_out

    def forward(self, x):
        torch.manual_seed(123)
        self.W_query = nn.Parameter(torch.rand(self.d_in, self.d_out))
        self.W_key = nn.Parameter(torch.rand(self.d_in, self.d_out))
        self.W_value = nn.Parameter(torch.rand(self.d_in, self.d_out))
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
