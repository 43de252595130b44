# wrong: negative distance instead of the dot product
# named: sign flipped + distance
def simple_attention_scores(inputs, query):
    return -torch.norm(inputs - query, dim=1)
