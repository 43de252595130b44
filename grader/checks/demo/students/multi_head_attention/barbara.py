# Everything right, head by head.
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.num_heads = num_heads
        self.heads = nn.ModuleList([])
        for _ in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        B, T, _ = x.shape
        out = torch.zeros(B, T, self.num_heads * self.d_out, dtype=x.dtype, device=x.device)
        for i, head in enumerate(self.heads):
            out[:, :, i * self.d_out : (i + 1) * self.d_out] = head(x)
        return out


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
        return self.out_proj(torch.cat(outputs, dim=2))


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads = heads
        self.head_dim = embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        N, Q, K = len(query), query.shape[1], keys.shape[1]
        V, Ks, Qs = self.values(values), self.keys(keys), self.queries(query)
        hidden = torch.zeros(N, self.heads, Q, K, dtype=torch.bool, device=query.device)
        if mask is not None:
            hidden = hidden | (mask == 0)
        outputs = []
        for h in range(self.heads):
            part = slice(h * self.head_dim, (h + 1) * self.head_dim)
            scores = torch.bmm(Qs[..., part], Ks[..., part].transpose(1, 2))
            scores = scores / math.sqrt(self.head_dim)
            scores[hidden[:, h]] = float("-inf")
            outputs.append(torch.bmm(torch.softmax(scores, dim=2), V[..., part]))
        return self.fc_out(torch.cat(outputs, dim=2))
