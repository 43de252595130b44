# right: sentence by sentence, head by head, row by row
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    out = torch.zeros_like(queries)
    for b in range(B):
        for h in range(H):
            for t in range(T):
                lo = t + 1 - window
                if lo < 0:
                    lo = 0
                s = keys[b, h, lo : t + 1] @ queries[b, h, t] / d**0.5
                w = torch.exp(s - s.max())
                out[b, h, t] = (w / w.sum()) @ values[b, h, lo : t + 1]
    return out
