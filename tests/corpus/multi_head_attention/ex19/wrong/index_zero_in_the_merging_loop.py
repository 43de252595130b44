# wrong: the loop that joins the heads takes index 0 each time
# named: first head only
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
        N = query.shape[0]
        v = self.values(values).reshape(N, -1, self.heads, self.head_dim)
        k = self.keys(keys).reshape(N, -1, self.heads, self.head_dim)
        q = self.queries(query).reshape(N, -1, self.heads, self.head_dim)

        energy = torch.einsum("nqhd,nkhd->nhqk", q, k)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=3)
        out = torch.einsum("nhqk,nkhd->nhqd", attention, v)

        joined = []
        for h in range(self.heads):
            joined.append(out[:, 0])
        return self.fc_out(torch.cat(joined, dim=-1))
