# what: not scaled, softmax over queries, keys copied
# pattern: three
# causes: 3
# true: not scaled | softmax over queries | queries as keys
# says:
# false:
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys = x @ self.W_query  # <-
        queries = x @ self.W_query
        values = x @ self.W_value
        attn_scores = queries @ keys.T
        scaled = attn_scores / 1  # <-
        attn_weights = torch.softmax(scaled, dim=0)  # <-
        context_vec = attn_weights @ values
        return context_vec
