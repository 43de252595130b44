# right: the cache is one tensor, (2, B, H, S, d)
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
        new = torch.stack([layer(x).reshape(B, T, self.num_heads, -1).movedim(2, 1) for layer in (self.k, self.v)])
        cache = new if cache is None else torch.cat([cache, new], dim=3)
        q = self.q(x).reshape(B, T, self.num_heads, -1).movedim(2, 1)
        S = cache.shape[3]
        scores = torch.einsum("bhtd,bhsd->bhts", q, cache[0]) * q.shape[-1] ** -0.5
        t = torch.arange(T, device=x.device)[:, None] + S - T
        scores = torch.where(torch.arange(S, device=x.device) <= t, scores, -math.inf)
        y = torch.einsum("bhts,bhsd->bthd", scores.softmax(-1), cache[1])
        return self.out(y.reshape(B, T, D)), cache
