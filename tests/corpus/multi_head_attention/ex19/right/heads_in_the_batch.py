# right: heads folded into the batch dim, bmm, the mask expanded the same way
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.d, rest = divmod(embed_size, heads)
        assert rest == 0
        self.h = heads
        self.values, self.keys, self.queries, self.fc_out = [
            nn.Linear(embed_size, embed_size, bias=False) for _ in range(4)
        ]

    def fold(self, x):
        n, length, _ = x.shape
        return x.reshape(n, length, self.h, self.d).swapaxes(1, 2).reshape(n * self.h, length, self.d)

    def forward(self, values, keys, query, mask=None):
        v, k, q = self.fold(self.values(values)), self.fold(self.keys(keys)), self.fold(self.queries(query))
        energy = torch.bmm(q, k.mT).div_(self.d**0.5)
        n, Q, K = query.size(0), query.size(1), keys.size(1)
        if mask is not None:
            mask = mask.expand(n, self.h, Q, K).reshape(n * self.h, Q, K)
            energy.masked_fill_(mask == 0, -math.inf)
        out = torch.bmm(energy.softmax(2), v)
        return self.fc_out(out.view(n, self.h, Q, self.d).swapaxes(1, 2).reshape(n, Q, -1))
