# wrong: masked with +inf
# named: no numbers for what is hidden
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        if embed_size % heads != 0:
            raise ValueError("embed_size has to be a multiple of heads")
        self.heads = heads
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def split(self, x):
        n, length, e = x.shape
        return x.view(n, length, self.heads, e // self.heads).transpose(1, 2)  # (N, H, length, d)

    def forward(self, values, keys, query, mask=None):
        v = self.split(self.values(values))
        k = self.split(self.keys(keys))
        q = self.split(self.queries(query))
        d = q.shape[-1]
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("inf"))
        weights = F.softmax(scores, dim=-1)
        out = weights @ v
        out = out.transpose(1, 2).contiguous().view(query.shape)
        return self.fc_out(out)
