# wrong: the weights
# named: weights alone
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    i = torch.arange(T, device=queries.device)
    mask = (i > i[:, None]) | (i <= i[:, None] - window)
    return torch.softmax((queries @ keys.mT / d**0.5).masked_fill(mask, -math.inf), dim=-1)
