# right: helper functions beside the class
def to_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


def from_heads(x):
    return torch.cat([head.squeeze(1) for head in x.split(1, dim=1)], dim=-1)


def attend(q, k, v, mask):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(dim=-1) @ v


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0, (embed_size, heads)
        self.heads = heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        q = to_heads(self.queries(query), self.heads)
        k = to_heads(self.keys(keys), self.heads)
        v = to_heads(self.values(values), self.heads)
        return self.fc_out(from_heads(attend(q, k, v, mask)))
