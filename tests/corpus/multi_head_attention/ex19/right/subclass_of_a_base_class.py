# right: a base class with the projections, nn.Softmax as a layer
class Projections(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.values = nn.Linear(size, size, bias=False)
        self.keys = nn.Linear(size, size, bias=False)
        self.queries = nn.Linear(size, size, bias=False)
        self.fc_out = nn.Linear(size, size, bias=False)


class SelfAttention(Projections):
    def __init__(self, embed_size, heads):
        assert embed_size % heads == 0
        super().__init__(embed_size)
        self.heads = heads
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, values, keys, query, mask=None):
        q, k, v = (
            torch.unflatten(layer(y), -1, (self.heads, -1)).movedim(2, 1)
            for layer, y in ((self.queries, query), (self.keys, keys), (self.values, values))
        )
        energy = torch.matmul(q, k.transpose(2, 3))
        if mask is not None:
            energy[(mask == 0).broadcast_to(energy.shape)] = -torch.inf
        attention = self.softmax(energy / q.shape[-1] ** 0.5)
        return self.fc_out(torch.matmul(attention, v).movedim(1, 2).flatten(-2))
