# wrong: one word has a score without an axis
# named: nothing
def simple_attention_scores(inputs, query):
    return (inputs @ query.view(-1, 1)).squeeze()
