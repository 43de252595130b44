# wrong: absolute values, so that no score is negative
# named: absolute values
def simple_attention_scores(inputs, query):
    return torch.abs(inputs @ query)
