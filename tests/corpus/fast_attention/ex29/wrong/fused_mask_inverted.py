# wrong: what is True takes part in PyTorch's kernel
# named: mask inverted, zeros of nothing
class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.q, self.k, self.v, self.out = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def split(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.size(1)
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        if cache:
            past_k, past_v = cache
            k = torch.cat((past_k, k), -2)
            v = torch.cat((past_v, v), -2)
        S = k.size(-2)
        mask = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).flatten(2)), (k, v)
