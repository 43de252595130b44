# wrong: the mask is spent in the loop over the heads: None after the first
# named: mask on the first head only
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
        v, k, q = self.values(values), self.keys(keys), self.queries(query)
        d = self.head_dim
        outputs = []
        for h in range(self.heads):
            part = slice(h * d, (h + 1) * d)
            scores = torch.bmm(q[..., part], k[..., part].transpose(1, 2)) / d ** 0.5
            if mask is not None:
                scores = scores.masked_fill(mask[:, 0] == 0, float("-inf"))
                mask = None
            outputs.append(torch.bmm(torch.softmax(scores, dim=-1), v[..., part]))
        return self.fc_out(torch.cat(outputs, dim=-1))
