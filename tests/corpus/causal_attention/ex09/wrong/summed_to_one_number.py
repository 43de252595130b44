# wrong: one number, summed over both axes
# named: scores summed
def simple_attention_scores(inputs, query):
    return torch.sum(inputs * query)
