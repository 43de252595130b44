# right: one query at a time, which sees the keys up to itself
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def heads(self, y):
        return y.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.W_query(x)), self.heads(self.W_key(x)), self.heads(self.W_value(x))
        words = []
        for t in range(x.shape[1]):
            scores = q[:, :, t : t + 1] @ k[:, :, : t + 1].transpose(2, 3) / math.sqrt(self.head_dim)
            weights = self.dropout(torch.softmax(scores, dim=-1))  # (B, H, 1, t + 1)
            words.append((weights @ v[:, :, : t + 1]).flatten(1))
        return self.out_proj(torch.stack(words, dim=1))
