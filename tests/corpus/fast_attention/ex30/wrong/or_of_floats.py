# wrong: | of masks of floats, which PyTorch has not implemented
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    future = torch.triu(torch.ones(T, T), diagonal=1)
    past = torch.tril(torch.ones(T, T), diagonal=-window)
    scores = scores.masked_fill(future | past, float("-inf"))
    return torch.softmax(scores, dim=-1) @ values
