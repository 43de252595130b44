# wrong: self.queries is applied to keys, query is never read
# named: queries made of the keys
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

    def split(self, x):
        n, length, _ = x.shape
        return x.view(n, length, self.heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, values, keys, query, mask=None):
        v = self.split(self.values(values))
        k = self.split(self.keys(keys))
        q = self.split(self.queries(keys))
        energy = torch.matmul(q, k.transpose(2, 3))
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=-1)
        out = torch.matmul(attention, v).permute(0, 2, 1, 3)
        return self.fc_out(out.flatten(start_dim=2))
