# Forgets to scale, everywhere.
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    if Hq % Hkv != 0:
        raise ValueError("Hq must be a multiple of Hkv")
    group = Hq // Hkv
    keys = keys.repeat_interleave(group, dim=1)
    values = values.repeat_interleave(group, dim=1)
    scores = queries @ keys.transpose(-2, -1)
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
            past_k, past_v = cache
            k = torch.cat([past_k, k], dim=2)
            v = torch.cat([past_v, v], dim=2)
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1)
        later = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.out(y), (k, v)


def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    outputs = []
    for start in range(0, T, 256):
        end = min(start + 256, T)
        low = max(start - window + 1, 0)
        q = queries[:, :, start:end]
        k = keys[:, :, low:end]
        v = values[:, :, low:end]
        scores = q @ k.transpose(-2, -1)
        t = torch.arange(start, end, device=q.device)[:, None]
        s = torch.arange(low, end, device=q.device)
        scores = scores.masked_fill((s > t) | (s <= t - window), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        outputs.append(weights @ v)
    return torch.cat(outputs, dim=2)


def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    m = torch.full((B, H, T, 1), -math.inf, dtype=queries.dtype, device=queries.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(queries)
    rows = torch.arange(T, device=queries.device)[:, None]
    for start in range(0, T, block_size):
        end = min(start + block_size, T)
        k, v = keys[:, :, start:end], values[:, :, start:end]
        scores = queries @ k.transpose(-2, -1)
        if causal:
            columns = torch.arange(start, end, device=queries.device)
            scores = scores.masked_fill(columns > rows, -math.inf)
        m_new = torch.maximum(m, scores.max(dim=-1, keepdim=True).values)
        alpha = torch.exp(m - m_new)
        p = torch.exp(scores - m_new)
        l = alpha * l + p.sum(dim=-1, keepdim=True)
        o = alpha * o + p @ v
        m = m_new
    return o / l, (m + torch.log(l)).squeeze(-1)


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    page_size = key_pages.shape[1]
    outputs = []
    for b in range(B):
        length = int(lengths[b])
        count = (length + page_size - 1) // page_size
        pages = page_table[b, :count]
        keys = key_pages[pages].reshape(-1, H, d)[:length]
        values = value_pages[pages].reshape(-1, H, d)[:length]
        scores = torch.einsum("hd,shd->hs", query[b], keys)
        weights = torch.softmax(scores, dim=-1)
        outputs.append(torch.einsum("hs,shd->hd", weights, values))
    return torch.stack(outputs)
