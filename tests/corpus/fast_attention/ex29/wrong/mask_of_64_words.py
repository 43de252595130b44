# wrong: there is no mask for more than 64 words
# named: nothing
class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("mask", torch.ones(64, 64, dtype=torch.bool).triu(1), persistent=False)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        S = k.shape[2]
        scores = q @ k.mT / math.sqrt(k.shape[-1])
        hidden = self.mask[S - T : S, :S]
        weights = torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, D)), (k, v)
