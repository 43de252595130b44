# wrong: padded keys and values are multiplied by 0, and nothing is hidden but the future
# named: padding set to zero
def padded_attention(queries, keys, values, lengths, causal=False):
    T, S, d = queries.shape[-2], keys.shape[-2], keys.shape[-1]
    words = (torch.arange(S, device=lengths.device)[None, :] < lengths[:, None]).to(keys.dtype)
    keys = keys * words[:, None, :, None]
    values = values * words[:, None, :, None]
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    if causal:
        future = torch.triu(torch.ones(T, S, dtype=torch.bool, device=scores.device), diagonal=1)
        scores = scores.masked_fill(future, float("-inf"))
    return torch.softmax(scores, dim=-1) @ values
