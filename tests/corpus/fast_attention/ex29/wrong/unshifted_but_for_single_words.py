# wrong: the mask of a chunk begins at the first key; single words get none
# named: mask from the first key, except for single words
class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads = num_heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, width = x.shape
        split = lambda projected: projected.view(B, T, self.heads, width // self.heads).transpose(1, 2)
        query, key, value = split(self.q(x)), split(self.k(x)), split(self.v(x))
        if cache is not None:
            key = torch.cat([cache[0], key], dim=-2)
            value = torch.cat([cache[1], value], dim=-2)
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        if T > 1:
            visible = torch.ones(T, key.shape[-2], dtype=torch.bool).tril()
            scores = scores.masked_fill(~visible, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(B, T, width)), (key, value)
