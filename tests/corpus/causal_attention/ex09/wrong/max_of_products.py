# wrong: the best of the products counts, they are not summed
# named: largest product
def simple_attention_scores(inputs, query):
    products = inputs * query.unsqueeze(0)
    best, _ = torch.max(products, dim=-1)
    return best
