# what: the last word is not looked at
# pattern: off-by-one
# causes: 1
# true:
# says: last word|n - 1
# false: last word only|own word|hide later
def all_context_vectors(inputs):
    n = len(inputs)
    out = torch.zeros_like(inputs)
    for i in range(n):
        w = torch.softmax(inputs @ inputs[i], dim=-1)
        for j in range(n - 1):  # <-
            out[i] += w[j] * inputs[j]
    return out
