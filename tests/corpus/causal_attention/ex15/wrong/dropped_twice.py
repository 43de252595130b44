# wrong: dropped by hand and by F.dropout again
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return F.dropout(attn_weights * mask, p)
