# wrong: one word, or one dimension, gives a vector and no matrix
# named: nothing
def all_context_vectors(inputs):
    s = inputs @ inputs.T
    w = torch.softmax(s, dim=-1)
    return (w @ inputs).squeeze()
