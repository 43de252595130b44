# Repeats heads in the wrong order, and writes into the cache.
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    if Hq % Hkv != 0:
        raise ValueError("Hq must be a multiple of Hkv")
    group = Hq // Hkv
    keys = keys.repeat(1, group, 1, 1)
    values = values.repeat(1, group, 1, 1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    if causal:
        later = torch.ones(T, S, dtype=torch.bool, device=queries.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values


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
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        else:
            cache = [None, None]
        cache[0] = k
        cache[1] = v
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        later = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.out(y), cache


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    P, page_size = key_pages.shape[:2]
    M = page_table.shape[1]
    table = page_table.clamp(min=0)
    k = key_pages[table].reshape(B, M * page_size, H, d).permute(0, 2, 1, 3)
    v = value_pages[table].reshape(B, M * page_size, H, d).permute(0, 2, 1, 3)
    mask = torch.arange(M * page_size, device=query.device)[None, :] < lengths[:, None]
    out = F.scaled_dot_product_attention(query[:, :, None], k, v)
    return out[:, :, 0]
