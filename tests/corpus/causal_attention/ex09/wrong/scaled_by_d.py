# wrong: divided by the number of features
# named: divided by d
def simple_attention_scores(inputs, query):
    return (inputs @ query) / inputs.shape[1]
