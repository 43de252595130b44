# wrong: one number, summed over both axes
def simple_attention_scores(inputs, query):
    return torch.sum(inputs * query)
