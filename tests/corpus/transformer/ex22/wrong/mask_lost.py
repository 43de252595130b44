# wrong: masked_fill without its underscore
# named: lengths without effect + causal has no effect
def padded_attention(queries, keys, values, lengths, causal=False):
    T, S, d = queries.shape[-2], keys.shape[-2], queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    hidden = torch.arange(S, device=scores.device) >= lengths.to(scores.device)[:, None]
    hidden = hidden[:, None, None, :].expand(-1, 1, T, S)
    if causal:
        future = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(1)
        hidden = hidden | future
    empty = hidden.all(dim=-1, keepdim=True)
    scores.masked_fill(hidden & ~empty, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(empty, 0.0)
    return weights @ values
