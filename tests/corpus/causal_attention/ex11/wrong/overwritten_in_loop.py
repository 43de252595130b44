# wrong: the context vector is overwritten in the loop, that of the last word is left
# named: last word only
def all_context_vectors(inputs):
    for query in inputs:
        scores = torch.stack([query.dot(key) for key in inputs])
        weights = torch.softmax(scores, dim=-1)
        context_vec = torch.sum(weights.unsqueeze(-1) * inputs, dim=0)
    return context_vec
