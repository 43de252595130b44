# wrong: keys and queries change places as operands of the first einsum
# named: queries and keys exchanged
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
        values = self.values(values).unflatten(2, (self.heads, self.head_dim))
        keys = self.keys(keys).unflatten(2, (self.heads, self.head_dim))
        queries = self.queries(query).unflatten(2, (self.heads, self.head_dim))

        energy = torch.einsum("nqhd,nkhd->nhqk", [keys, queries])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=3)

        out = torch.einsum("nhqk,nkhd->nqhd", [attention, values])
        return self.fc_out(out.flatten(2))
