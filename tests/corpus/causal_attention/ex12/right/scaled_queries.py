# right: the queries are scaled before the product
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.rand(d_in, d_out)))

    def forward(self, x):
        queries = x @ self.W_query / self.W_query.shape[1] ** 0.5
        keys = x @ self.W_key
        values = x @ self.W_value
        return torch.softmax(queries @ keys.T, dim=-1) @ values
