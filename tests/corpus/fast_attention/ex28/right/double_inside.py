# right: float64 on the way, own stable softmax
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    if Hq % Hkv != 0:
        raise ValueError("Hq must be a multiple of Hkv")
    index = torch.tensor([h // (Hq // Hkv) for h in range(Hq)], device=keys.device)
    k, v = keys.double().index_select(1, index), values.double().index_select(1, index)
    scores = torch.einsum("bhtd,bhsd->bhts", queries.double(), k) / math.sqrt(d)
    if causal:
        scores = scores + torch.full((T, S), -math.inf, device=keys.device, dtype=torch.float64).triu(S - T + 1)
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return ((e / e.sum(-1, keepdim=True)) @ v).to(queries.dtype)
