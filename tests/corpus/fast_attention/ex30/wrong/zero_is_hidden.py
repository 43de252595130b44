# wrong: a score of exactly 0 is taken for a hidden one
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    k = F.pad(keys, (0, 0, window - 1, 0)).unfold(2, window, 1)
    v = F.pad(values, (0, 0, window - 1, 0)).unfold(2, window, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", queries, k) / math.sqrt(queries.shape[-1])
    scores = scores.masked_fill(scores == 0, -math.inf)
    return torch.einsum("bhtw,bhtdw->bhtd", scores.softmax(-1), v)
