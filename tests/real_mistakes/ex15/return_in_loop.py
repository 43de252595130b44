# what: return stands in the loop
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|first row|loop
# false: drop whole|drop the same
def inverted_dropout(attn_weights, p, training):
    out = attn_weights.clone()
    if training:
        for row in out:
            row[torch.rand(row.shape) < p] = 0
            row /= (1 - p)
            return out  # <-
    return out
