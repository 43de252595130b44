# wrong: the heads are concatenated on the batch dim and viewed
# named: sentences mixed up in merging
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
        return self.fc_out(torch.cat(outputs, dim=0).view(N, Q, -1))
