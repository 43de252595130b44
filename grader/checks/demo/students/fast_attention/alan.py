# Everything right, with few loops.
def repeat_kv(x, n):
    B, H, S, d = x.shape
    return x[:, :, None, :, :].expand(B, H, n, S, d).reshape(B, H * n, S, d)


def grouped_query_attention(queries, keys, values, causal=False):
    n, rest = divmod(queries.shape[1], keys.shape[1])
    if rest or n == 0:
        raise ValueError("the number of query heads must be a multiple of the number of key heads")
    keys, values = repeat_kv(keys, n), repeat_kv(values, n)
    T, S = queries.shape[-2], keys.shape[-2]
    bias = torch.zeros(T, S, dtype=queries.dtype, device=queries.device)
    if causal:
        bias = bias.masked_fill(~torch.ones_like(bias, dtype=torch.bool).tril(S - T), torch.finfo(queries.dtype).min)
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5 + bias
    return scores.softmax(-1) @ values


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def split(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, cache=None):
        k, v = self.split(self.k(x)), self.split(self.v(x))
        if cache is not None:
            k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)
        T, S = x.shape[1], k.shape[2]
        seen = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        y = F.scaled_dot_product_attention(self.split(self.q(x)), k, v, attn_mask=seen)
        return self.out(y.transpose(1, 2).flatten(2)), (k, v)


def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    window = min(window, T)
    k = F.pad(keys, (0, 0, window - 1, 0)).unfold(2, window, 1)  # (B, H, T, d, window)
    v = F.pad(values, (0, 0, window - 1, 0)).unfold(2, window, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", queries, k) / math.sqrt(d)
    t = torch.arange(T, device=queries.device)[:, None]
    w = torch.arange(window, device=queries.device)
    scores = scores.masked_fill(t + w < window - 1, -math.inf)
    return torch.einsum("bhtw,bhtdw->bhtd", scores.softmax(-1), v)


def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    lse1, lse2 = m1 + torch.log(l1), m2 + torch.log(l2)
    lse = torch.logaddexp(lse1, lse2)
    empty = torch.isinf(lse)
    share1 = torch.where(empty, 0.0, torch.exp(lse1 - lse))
    share2 = torch.where(empty, 0.0, torch.exp(lse2 - lse))
    l = torch.where(empty, 0.0, torch.exp(lse1 - m) + torch.exp(lse2 - m))
    return m, l, share1 * o1 + share2 * o2


def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[2:]
    t = torch.arange(T, device=queries.device)

    def block(start):
        s = queries @ keys[:, :, start : start + block_size].transpose(2, 3) / math.sqrt(d)
        if causal:
            s = s.masked_fill(t[start : start + block_size] > t[:, None], float("-inf"))
        return s

    starts = range(0, T, block_size)
    lse = torch.logsumexp(torch.stack([block(start).logsumexp(-1) for start in starts]), dim=0)
    output = sum(torch.exp(block(start) - lse[..., None]) @ values[:, :, start : start + block_size] for start in starts)
    return output, lse


def attention_backward(queries, keys, values, grad_output):
    d = queries.size(-1)
    scores = torch.einsum("bhtd,bhsd->bhts", queries, keys) / math.sqrt(d)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    p = e / e.sum(-1, keepdim=True)
    gv = torch.einsum("bhts,bhtd->bhsd", p, grad_output)
    gp = torch.einsum("bhtd,bhsd->bhts", grad_output, values)
    gs = p * gp - p * torch.einsum("bhts,bhts->bht", p, gp).unsqueeze(-1)
    gs = gs / math.sqrt(d)
    return torch.einsum("bhts,bhsd->bhtd", gs, keys), torch.einsum("bhts,bhtd->bhsd", gs, queries), gv


def linear_attention(queries, keys, values):
    T = queries.shape[2]
    phi = lambda x: torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))
    q, k, v = phi(queries), phi(keys), values
    state, norm, pieces = 0.0, 0.0, []
    for a in range(0, T, 64):
        qa, ka, va = q[:, :, a : a + 64], k[:, :, a : a + 64], v[:, :, a : a + 64]
        inside = torch.tril(qa @ ka.mT)
        top = inside @ va + (qa @ state if a else 0.0)
        bottom = inside.sum(-1, keepdim=True) + (qa @ norm if a else 0.0)
        pieces.append(top / bottom)
        state = state + ka.mT @ va
        norm = norm + ka.sum(2)[..., None]
    return torch.cat(pieces, dim=2)


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    M, page_size = page_table.shape[1], key_pages.shape[1]
    table = page_table.clamp(min=0)
    keys = key_pages[table].reshape(B, M * page_size, H, d)
    values = value_pages[table].reshape(B, M * page_size, H, d)
    scores = torch.einsum("bhd,bshd->bhs", query, keys) / math.sqrt(d)
    free = torch.arange(M * page_size, device=query.device) >= lengths[:, None]
    scores = scores.masked_fill(free[:, None], -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhs,bshd->bhd", weights, values)
