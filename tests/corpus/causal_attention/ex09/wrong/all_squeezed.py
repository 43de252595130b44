# wrong: one word gives a number and no vector
# named: nothing
def simple_attention_scores(inputs, query):
    return (inputs @ query.unsqueeze(1)).squeeze()
