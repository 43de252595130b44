# what: as many random numbers as the notebook has words
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|`words`
# false: inputs of other sizes
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    n = len(words)  # <-
    mask = (torch.rand(n, n) >= p).to(attn_weights.dtype)
    return mask * attn_weights / (1 - p)
