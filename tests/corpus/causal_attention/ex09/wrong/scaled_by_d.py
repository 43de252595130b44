# wrong: divided by the number of features
def simple_attention_scores(inputs, query):
    return (inputs @ query) / inputs.shape[1]
