# what: begins again with the weights for each entry
# pattern: overwrites
# causes: 1
# true:
# says: last|overwrit|each step|anew
# false: Nothing is dropped|never drop|drop none
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    for row in range(attn_weights.shape[0]):
        result = attn_weights.clone()  # <-
        result[row] = result[row] * (torch.rand(attn_weights.shape[1]) >= p)
    return result / (1 - p)
