# right: the cache is a list, and new for every call
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
        q, *new = [f(x).view(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v)]
        cache = [torch.cat(pair, dim=2) for pair in zip(cache, new)] if cache else new
        k, v = cache
        S = k.size(2)
        mask = torch.full((T, S), -math.inf, device=x.device, dtype=x.dtype).triu(S - T + 1)
        w = F.softmax(q.matmul(k.transpose(2, 3)) / math.sqrt(q.size(-1)) + mask, dim=-1)
        return self.out(w.matmul(v).transpose(1, 2).contiguous().view(B, T, D)), cache
