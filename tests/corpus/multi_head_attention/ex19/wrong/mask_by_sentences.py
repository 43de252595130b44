# wrong: a mask for each sentence is taken for granted
# named: nothing
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.h, self.d = heads, embed_size // heads
        self.values, self.keys, self.queries, self.fc_out = (nn.Linear(embed_size, embed_size, bias=False) for _ in range(4))
    def forward(self, values, keys, query, mask=None):
        outs = []
        for n in range(len(query)):
            v, k, q = (l(x[n]).unflatten(-1, (self.h, self.d)).transpose(0, 1) for l, x in ((self.values, values), (self.keys, keys), (self.queries, query)))
            s = q @ k.mT / self.d**0.5
            if mask is not None: s = s.masked_fill(mask[n] == 0, -1e20)
            outs.append((s.softmax(-1) @ v).transpose(0, 1).flatten(1))
        return self.fc_out(torch.stack(outs))
