# what: a single number comes out: the products are flattened and summed
# pattern: wrong-shape
# causes: 1
# true: scores summed
# says:
# false:
def simple_attention_scores(inputs, query):
    products = inputs * query
    total = products.flatten()
    return total.sum()  # <-
