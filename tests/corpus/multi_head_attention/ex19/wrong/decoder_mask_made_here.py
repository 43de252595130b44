# wrong: makes a causal mask of its own at every call and does not read the given one
# named: causal mask always, never the given one
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
        N, query_len, _ = query.shape
        key_len = keys.shape[1]
        values = self.values(values).reshape(N, key_len, self.heads, self.head_dim)
        keys = self.keys(keys).reshape(N, key_len, self.heads, self.head_dim)
        queries = self.queries(query).reshape(N, query_len, self.heads, self.head_dim)

        mask = torch.tril(torch.ones(query_len, key_len, device=query.device))
        energy = torch.einsum("nqhd,nkhd->nhqk", queries, keys)
        energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=3)

        out = torch.einsum("nhqk,nkhd->nqhd", attention, values)
        return self.fc_out(out.reshape(N, query_len, self.embed_size))
