# what: torch.rand of a tensor
# pattern: typo
# causes: 1
# true:
# says: TypeError|torch\.rand\(
# false: inputs of other sizes
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(attn_weights) >= p).float()  # <-
    return attn_weights * mask / (1 - p)
