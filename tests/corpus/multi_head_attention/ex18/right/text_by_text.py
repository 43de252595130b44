# right: a loop over the batch, two-dimensional matrices, negative mask
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def attend(self, x):
        T = len(x)
        Q, K, V = self.W_query(x), self.W_key(x), self.W_value(x)  # (T, d_out)
        outputs = []
        for h in range(self.num_heads):
            a, b = h * self.head_dim, (h + 1) * self.head_dim
            scores = Q[:, a:b] @ K[:, a:b].T
            scores = torch.where(self.mask[:T, :T] == 1, scores, -torch.inf)
            weights = torch.softmax(scores / math.sqrt(self.head_dim), dim=1)
            outputs.append(self.dropout(weights) @ V[:, a:b])
        return torch.hstack(outputs)

    def forward(self, x):
        return self.out_proj(torch.stack([self.attend(text) for text in x]))
