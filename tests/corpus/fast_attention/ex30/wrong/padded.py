# wrong: zeros in front, not hidden
# named: zeros before the text count
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    k = F.pad(keys, (0, 0, window - 1, 0)).unfold(2, window, 1)  # (B, H, T, d, window)
    v = F.pad(values, (0, 0, window - 1, 0)).unfold(2, window, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", queries, k) / math.sqrt(d)
    return torch.einsum("bhtw,bhtdw->bhtd", scores.softmax(-1), v)
