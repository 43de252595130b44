# right: one group of heads after the other
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.shape[1], keys.shape[1]
    if Hq < Hkv or Hq % Hkv > 0:
        raise ValueError(f"{Hq} is not a multiple of {Hkv}")
    T, S = queries.shape[2], keys.shape[2]
    seen = torch.ones(T, S, device=queries.device).tril(diagonal=S - T) if causal else None
    results = []
    for q, k, v in zip(queries.chunk(Hkv, 1), keys.split(1, 1), values.split(1, 1)):
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        if seen is not None:
            scores = scores.masked_fill(seen == 0, -1e9)
        results.append(torch.matmul(torch.softmax(scores, -1), v))
    return torch.cat(results, 1)
