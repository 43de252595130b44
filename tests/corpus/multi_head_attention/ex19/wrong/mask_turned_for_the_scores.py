# wrong: the last two dimensions of the mask are exchanged, so it hides rows of the scores
# named: queries hidden
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
        V = self.values(values).unflatten(-1, (self.heads, -1))
        K = self.keys(keys).unflatten(-1, (self.heads, -1))
        Q = self.queries(query).unflatten(-1, (self.heads, -1))
        energy = torch.einsum("nqhd,nkhd->nhqk", Q, K)
        if mask is not None:
            hidden = (mask == 0).permute(0, 1, 3, 2)
            energy = energy.masked_fill(hidden, float("-1e20"))
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=-1)
        out = torch.einsum("nhqk,nkhd->nqhd", attention, V)
        return self.fc_out(out.flatten(2))
