# wrong: heads in the batch dim, the mask repeated as H blocks of N instead of N blocks of H
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.h, self.d = heads, embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def fold(self, x):
        n, length, _ = x.shape
        return x.reshape(n, length, self.h, self.d).transpose(1, 2).reshape(n * self.h, length, self.d)

    def forward(self, values, keys, query, mask=None):
        v, k, q = self.fold(self.values(values)), self.fold(self.keys(keys)), self.fold(self.queries(query))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d)
        n, Q, _ = query.shape
        if mask is not None:
            mask = mask.expand(n, self.h, Q, keys.shape[1]).transpose(0, 1).flatten(0, 1)
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = torch.bmm(torch.softmax(scores, dim=-1), v)
        out = out.reshape(n, self.h, Q, self.d).transpose(1, 2).reshape(n, Q, -1)
        return self.fc_out(out)
