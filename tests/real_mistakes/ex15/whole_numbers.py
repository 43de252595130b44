# what: // for /
# pattern: integer-division
# causes: 1
# true:
# says: //|whole
# false: drop everything|never drop
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask // (1 - p)  # <-
