# wrong: queries transposed in place of keys, so that (d_out, d_out) scores come out
# named: dimensions compared
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        weights = torch.softmax(q.T @ k / math.sqrt(k.shape[1]), dim=-1)
        return (weights @ v.T).T
