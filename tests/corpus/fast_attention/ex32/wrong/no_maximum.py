# wrong: exp of scores as they are
# named: nothing subtracted
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    l = queries.new_zeros(B, H, T, 1)
    o = torch.zeros_like(queries)
    rows = torch.arange(T, device=queries.device)[:, None]
    for start in range(0, T, block_size):
        p = torch.exp(queries @ keys[:, :, start : start + block_size].mT / math.sqrt(d))
        if causal:
            columns = torch.arange(start, min(start + block_size, T), device=queries.device)
            p = p.masked_fill(columns > rows, 0.0)
        l = l + p.sum(dim=-1, keepdim=True)
        o = o + p @ values[:, :, start : start + block_size]
    return o / l, torch.log(l).squeeze(-1)
