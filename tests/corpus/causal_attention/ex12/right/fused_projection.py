# right: one projection, concatenated from the three, and chunked
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        W = torch.cat([self.W_query, self.W_key, self.W_value], dim=1)  # (d_in, 3 d_out)
        queries, keys, values = (x @ W).chunk(3, dim=1)
        d_k = keys.size(1)
        return softmax_stable(queries @ keys.t() / d_k**0.5) @ values
