# right: the cache is a tuple with names
from typing import NamedTuple, Optional

class KV(NamedTuple):
    keys: torch.Tensor
    values: torch.Tensor

class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: torch.Tensor, cache: Optional[KV] = None):
        b, t, c = x.shape
        d = c // self.num_heads
        k = self.k(x).view(b, t, self.num_heads, d).transpose(1, 2)
        v = self.v(x).view(b, t, self.num_heads, d).transpose(1, 2)
        q = self.q(x).view(b, t, self.num_heads, d).transpose(1, 2)
        if cache is not None:
            keys, values = cache
            k, v = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
        s = k.size(2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(d))
        causal = torch.arange(s, device=x.device).view(1, 1, 1, s) <= torch.arange(s - t, s, device=x.device).view(1, 1, t, 1)
        att = att.masked_fill(~causal, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(b, t, c)
        return self.out(y), KV(k, v)
