# wrong: elementwise product, the sum is forgotten, (T, d)
def simple_attention_scores(inputs, query):
    return inputs * query
