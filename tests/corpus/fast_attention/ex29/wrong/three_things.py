# wrong: keys and values are returned beside y, not as a pair
# named: keys and values apart
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
        H = self.num_heads
        d = D // H
        q = self.q(x).view(B, T, H, d).transpose(1, 2)
        k = self.k(x).view(B, T, H, d).transpose(1, 2)
        v = self.v(x).view(B, T, H, d).transpose(1, 2)
        if cache is not None:
            past_k, past_v = cache
            k = torch.cat([past_k, k], dim=2)
            v = torch.cat([past_v, v], dim=2)
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        later = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.out(y), k, v
