# what: divided by d_k, softmax over queries, keys as values
# pattern: three
# causes: 3
# true: divided by d_out | softmax over queries | keys as values
# says:
# false:
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        k = x @ self.W_key
        q = x @ self.W_query
        v = x @ self.W_key  # <-
        att = q @ k.T
        att = torch.softmax(att / k.shape[-1], dim=0)  # <-
        return att @ v
