# right: always one word after the other, so that no mask is needed
class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        ys = []
        for t in range(T):
            q, k, v = (f(x[:, t]).view(B, self.num_heads, 1, -1) for f in (self.q, self.k, self.v))
            if cache is not None:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache = (k, v)
            w = ((q * k).sum(-1) / k.shape[-1] ** 0.5).softmax(-1)
            ys.append((w[..., None] * v).sum(2).reshape(B, D))
        return self.out(torch.stack(ys, dim=1)), cache
