# right: a row of all keys at a time, with a mask of that row
def sliding_window_attention(queries, keys, values, window):
    """Row by row over ALL keys with a mask: T at a time, never T x T."""
    B, H, T, d = queries.shape
    j = torch.arange(T, device=queries.device)
    out = []
    for t in range(T):
        s = (keys @ queries[:, :, t, :, None]).squeeze(-1) / math.sqrt(d)  # (B, H, T)
        s = s.masked_fill((j > t) | (j <= t - window), -math.inf)
        out.append((s.softmax(-1)[:, :, None] @ values).squeeze(2))
    return torch.stack(out, 2)
