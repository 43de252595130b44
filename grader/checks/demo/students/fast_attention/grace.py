# Two things at once.
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    assert Hq % Hkv == 0
    group = Hq // Hkv
    keys = keys.repeat_interleave(group, dim=1)
    values = values.repeat_interleave(group, dim=1)
    scores = queries @ keys.transpose(-2, -1)
    if causal:
        later = torch.ones(T, S, dtype=torch.bool, device=queries.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values


def attention_backward(queries, keys, values, grad_output):
    T, d = queries.shape[-2:]
    P = torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(d), dim=-1)
    dV = P.transpose(-2, -1) @ grad_output
    dP = grad_output @ values.transpose(-2, -1)
    dS = P * dP
    dQ = dS @ keys
    dK = dS.transpose(-2, -1) @ queries
    return dQ, dK, dV


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    page_size = key_pages.shape[1]
    outputs = []
    for b in range(B):
        length = int(lengths[b])
        count = (length + page_size - 1) // page_size
        pages = page_table[b, :count]
        keys = key_pages[pages].reshape(-1, H, d)
        values = value_pages[pages].reshape(-1, H, d)
        scores = torch.einsum("hd,shd->hs", query[b], keys)
        weights = torch.softmax(scores, dim=-1)
        outputs.append(torch.einsum("hs,shd->hd", weights, values))
    return torch.stack(outputs)
