# what: the weighted words are summed over the wrong axis
# pattern: wrong-axis
# causes: 1
# true:
# says: dim=0|sum
# false: softmax runs down
def all_context_vectors(inputs):
    weights = torch.softmax(inputs @ inputs.T, dim=-1)  # (T, T)
    weighted = weights.unsqueeze(-1) * inputs.unsqueeze(0)  # (T, T, d)
    return weighted.sum(dim=0)  # <-
