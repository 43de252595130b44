# what: the root of negative scores
# pattern: all-nan
# causes: 1
# true:
# says: NaN|root
# false: same result|whatever
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        k = x @ self.W_key
        q = x @ self.W_query
        v = x @ self.W_value
        att = torch.sqrt(-1 - (q @ k.T) ** 2)  # <-
        att = torch.softmax(att / k.shape[-1] ** 0.5, dim=-1)
        return att @ v
