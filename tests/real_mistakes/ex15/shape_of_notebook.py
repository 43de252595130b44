# what: the mask has the shape of the notebook's scores
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|attn_scores
# false: inputs of other sizes
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(attn_scores.shape) >= p).float()  # <-
    return attn_weights * mask / (1 - p)
