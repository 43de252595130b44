# wrong: masked after softmax, and divided again
# named: renormalised after softmax
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    weights = torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(d), dim=-1)
    weights = weights * torch.ones(T, T, device=weights.device).tril().triu(1 - window)
    return weights / weights.sum(-1, keepdim=True) @ values
