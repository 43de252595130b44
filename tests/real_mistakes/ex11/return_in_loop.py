# what: returns after the first word
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|after the first|first word
# false: You return the context vector of the first word only|first word only
def all_context_vectors(inputs):
    context = torch.zeros(inputs.shape, dtype=inputs.dtype)
    for i in range(inputs.shape[0]):
        w = torch.softmax(inputs @ inputs[i], dim=0)
        context[i] = w @ inputs
        return context  # <-
