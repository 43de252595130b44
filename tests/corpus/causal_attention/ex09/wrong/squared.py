# wrong: the scores are squared, so that none is negative
# named: squares
def simple_attention_scores(inputs, query):
    return torch.pow(query @ inputs.T, 2)
