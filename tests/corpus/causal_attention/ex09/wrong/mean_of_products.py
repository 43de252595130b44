# wrong: mean of the products over the features instead of their sum
# named: divided by d
def simple_attention_scores(inputs, query):
    return (inputs * query).mean(dim=1)
