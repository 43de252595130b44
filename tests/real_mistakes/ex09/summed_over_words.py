# what: sum over dim 0
# pattern: wrong-axis
# causes: 1
# true: summed over the words
# says:
# false:
def simple_attention_scores(inputs, query):
    products = inputs * query
    return products.sum(dim=0)  # <-
