# wrong: the heads are concatenated on the batch dim and viewed
# named: sentences mixed up in merging
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
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), 1).bool())

    def forward(self, x):
        T = x.shape[1]
        Q, K, V = self.W_query(x), self.W_key(x), self.W_value(x)
        outputs = []
        for h in range(self.num_heads):
            cols = slice(h * self.head_dim, (h + 1) * self.head_dim)
            q, k, v = Q[:, :, cols], K[:, :, cols], V[:, :, cols]
            scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.head_dim)
            scores[:, self.mask[:T, :T]] = float("-inf")
            weights = self.dropout(F.softmax(scores, dim=2))
            outputs.append(torch.bmm(weights, v))
        return self.out_proj(torch.cat(outputs, dim=0).view(x.shape[0], T, -1))
