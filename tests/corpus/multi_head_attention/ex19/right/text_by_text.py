# right: a loop over texts and heads with two-dimensional matrices, list append
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads = heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        N, Q, _ = query.shape
        K = keys.shape[1]
        if mask is None:
            mask = torch.ones(N, self.heads, Q, K, device=query.device)
        mask = torch.broadcast_to(mask, (N, self.heads, Q, K))
        texts = []
        for n in range(N):
            vs = self.values(values[n]).chunk(self.heads, dim=1)
            ks = self.keys(keys[n]).chunk(self.heads, dim=1)
            qs = self.queries(query[n]).chunk(self.heads, dim=1)
            heads = []
            for h in range(self.heads):
                scores = qs[h] @ ks[h].T / math.sqrt(ks[h].shape[1])
                scores = scores.masked_fill(mask[n, h] == 0, float("-inf"))
                heads.append(F.softmax(scores, dim=1) @ vs[h])
            texts.append(torch.hstack(heads))
        return self.fc_out(torch.stack(texts))
