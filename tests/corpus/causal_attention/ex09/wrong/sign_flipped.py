# wrong: minus before the scores
def simple_attention_scores(inputs, query):
    return -(inputs @ query)
