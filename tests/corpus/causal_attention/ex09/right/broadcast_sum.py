# right: elementwise product, summed over the last axis
def simple_attention_scores(inputs, query):
    products = inputs * query.unsqueeze(0)  # (T, d)
    return products.sum(dim=-1)
