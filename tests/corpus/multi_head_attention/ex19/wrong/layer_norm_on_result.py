# wrong: a LayerNorm of its own after fc_out
# named: result normalised
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads = heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)
        self.layer_norm = nn.LayerNorm(embed_size)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, values, keys, query, mask=None):
        v, k, q = self.split(self.values(values)), self.split(self.keys(keys)), self.split(self.queries(query))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        context = (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2)
        return self.layer_norm(self.fc_out(context))
