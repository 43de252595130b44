# wrong: a hidden word is part of the softmax, which may leave nothing for others
# named: nothing
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.heads, self.head_dim = heads, embed_size // heads
        assert self.head_dim * heads == embed_size, "Embedding size needs to be divisible by heads"
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        N, T, embed_size = query.shape
        values = self.values(values).reshape(N, -1, self.heads, self.head_dim)
        keys = self.keys(keys).reshape(N, -1, self.heads, self.head_dim)
        queries = self.queries(query).reshape(N, T, self.heads, self.head_dim)
        scores = torch.einsum("nqhd,nkhd->nhqk", [queries, keys]) / self.head_dim**0.5
        weights = torch.softmax(scores, dim=3)
        if mask is not None:
            weights = weights * (mask != 0)
            weights = weights / weights.sum(3, keepdim=True)
        out = torch.einsum("nhqk,nkhd->nqhd", [weights, values]).reshape(N, T, embed_size)
        return self.fc_out(out)
