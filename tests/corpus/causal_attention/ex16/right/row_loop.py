# right: a loop over the words, each sees keys and values up to itself
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        out = []
        for t in range(x.shape[1]):
            seen_keys, seen_values = keys[:, : t + 1], values[:, : t + 1]
            scores = (seen_keys * queries[:, t : t + 1]).sum(-1) / keys.shape[-1] ** 0.5  # (B, t + 1)
            weights = self.dropout(torch.softmax(scores, dim=-1))
            out.append((weights.unsqueeze(-1) * seen_values).sum(dim=1))
        return torch.stack(out, dim=1)
