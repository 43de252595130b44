# wrong: rounded to two decimals
# named: nothing
def simple_attention_scores(inputs, query):
    return torch.round(inputs @ query, decimals=2)
