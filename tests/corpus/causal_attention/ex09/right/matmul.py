# right: matrix times vector with @
def simple_attention_scores(inputs, query):
    return inputs @ query
