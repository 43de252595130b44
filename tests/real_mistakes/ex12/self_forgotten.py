# what: self. is missing
# pattern: typo
# causes: 1
# true:
# says: NameError|W_query
# false: inputs of other sizes
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys = x @ self.W_key
        queries = x @ W_query  # <-
        values = x @ self.W_value
        attn_scores = queries @ keys.T
        scaled = attn_scores / keys.shape[-1] ** 0.5
        attn_weights = torch.softmax(scaled, dim=-1)
        context_vec = attn_weights @ values
        return context_vec
