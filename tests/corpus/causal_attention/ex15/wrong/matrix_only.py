# wrong: the shape is unpacked into two, a ValueError for a batch
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    rows, cols = attn_weights.shape
    mask = (torch.rand(rows, cols) >= p).float()
    return attn_weights * mask / (1 - p)
