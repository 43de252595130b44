# wrong: hidden by -1000, which is more than many a score
# named: nothing
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0, "no"
        self.heads, self.d = heads, embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        V, K, Q = self.values(values), self.keys(keys), self.queries(query)
        N, T, S = Q.shape[0], Q.shape[1], K.shape[1]
        if mask is not None:
            mask = mask.expand(N, self.heads, T, S)
        outs = []
        for h in range(self.heads):
            part = slice(h * self.d, (h + 1) * self.d)
            s = Q[..., part] @ K[..., part].mT / math.sqrt(self.d)
            if mask is not None:
                s = s.masked_fill(mask[:, h] == 0, -1000.0)
            outs.append(s.softmax(-1) @ V[..., part])
        return self.fc_out(torch.cat(outs, -1))
