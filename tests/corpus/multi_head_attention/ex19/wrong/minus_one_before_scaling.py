# wrong: hidden scores are set to -1, and then divided like the others
# named: −1 for −∞
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

    def heads_of(self, x):
        return x.view(len(x), -1, self.heads, self.head_dim).transpose(1, 2)

    def forward(self, values, keys, query, mask=None):
        v, k, q = self.heads_of(self.values(values)), self.heads_of(self.keys(keys)), self.heads_of(self.queries(query))
        energy = q @ k.transpose(-1, -2)
        if mask is not None:
            energy = torch.where(mask == 0, -1.0, energy)
        attention = F.softmax(energy / self.head_dim ** 0.5, dim=-1)
        out = (attention @ v).transpose(1, 2).contiguous()
        return self.fc_out(out.view(len(query), -1, self.embed_size))
