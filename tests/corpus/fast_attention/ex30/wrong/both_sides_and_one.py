# wrong: as many keys after the query as before it, by distance
# named: windows to both sides, one more
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    outputs = torch.zeros_like(queries)
    for t in range(T):
        near = slice(max(t - window, 0), t + window + 1)
        scores = queries[:, :, t : t + 1] @ keys[:, :, near].mT / d**0.5
        outputs[:, :, t : t + 1] = scores.softmax(-1) @ values[:, :, near]
    return outputs
