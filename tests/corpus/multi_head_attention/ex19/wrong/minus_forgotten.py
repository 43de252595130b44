# wrong: hidden scores are set to 1e9, the minus is forgotten
# named: +∞ for −∞
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0, "embed_size must be divisible by heads"
        self.embed_size = embed_size
        self.heads = heads
        self.head_dim = embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        v, k, q = self.values(values), self.keys(keys), self.queries(query)
        N, Q, E = q.shape
        outs = []
        for h in range(self.heads):
            a, b = h * self.head_dim, (h + 1) * self.head_dim
            scores = q[:, :, a:b] @ k[:, :, a:b].transpose(1, 2) / math.sqrt(self.head_dim)
            if mask is not None:
                m = mask.expand(N, self.heads, Q, k.shape[1])[:, h]
                scores = scores.masked_fill(m == 0, 1e9)
            outs.append(F.softmax(scores, dim=-1) @ v[:, :, a:b])
        return self.fc_out(torch.cat(outs, dim=-1))
