# wrong: x is projected once, with W_query, and is then query, key and value
# named: queries in all roles
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        h = x @ self.W_query
        scores = h @ h.transpose(0, 1)
        scores = scores / h.shape[-1] ** 0.5
        return F.softmax(scores, dim=-1) @ h
