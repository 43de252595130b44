# what: the inner loop overwrites
# pattern: overwrites
# causes: 1
# true:
# says: overwrit|last word|replac
# false: last word only|own weight
def all_context_vectors(inputs):
    n = inputs.shape[0]
    context = torch.zeros_like(inputs)
    for i in range(n):
        w = torch.softmax(inputs @ inputs[i], dim=0)
        for j in range(n):
            context[i] = w[j] * inputs[j]  # <-
    return context
