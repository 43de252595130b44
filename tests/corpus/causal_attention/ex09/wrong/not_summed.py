# wrong: elementwise product, the sum is forgotten, (T, d)
# named: products not summed
def simple_attention_scores(inputs, query):
    return inputs * query
