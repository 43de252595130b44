# what: p and training in each other's place
# pattern: arguments-exchanged
# causes: 1
# true: arguments in another order
# says: exchange|order|p, training
# false: drop everything|never drop|in evaluation, too
def inverted_dropout(attn_weights, p, training):
    def drop(w, training, p):
        if not training:
            return w
        return w * (torch.rand_like(w) >= p) / (1 - p)

    return drop(attn_weights, p, training)  # <-
