# what: the context vectors are made anew for each word
# pattern: overwrites
# causes: 1
# true:
# says: last|overwrit|each step|anew
# false: first word
def all_context_vectors(inputs):
    for x_i in inputs:
        out = torch.zeros_like(inputs)  # <-
        w = torch.softmax(inputs @ x_i, dim=0)
        out += w @ inputs
    return out
