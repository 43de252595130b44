# wrong: all scores, then the mask
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    causal = torch.tril(torch.ones(T, T, device=scores.device))
    band = torch.triu(torch.ones(T, T, device=scores.device), diagonal=-(window - 1))
    scores = scores.masked_fill(causal * band == 0, float("-inf"))
    return torch.softmax(scores, dim=-1) @ values
