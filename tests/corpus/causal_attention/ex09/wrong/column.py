# wrong: right numbers as a column, (T, 1)
def simple_attention_scores(inputs, query):
    return inputs @ query.reshape(-1, 1)
