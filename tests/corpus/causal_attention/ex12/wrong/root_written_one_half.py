# wrong: (d ** 1/2) for the root, which is half of d
# named: half the length
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        Q = x @ self.W_query  # (T, d)
        K = x @ self.W_key
        V = x @ self.W_value
        d = K.shape[1]
        A = torch.softmax((Q @ K.T) / (d ** 1/2), dim=-1)  # (T, T)
        return A @ V
