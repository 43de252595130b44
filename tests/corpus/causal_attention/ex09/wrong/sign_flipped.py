# wrong: minus before the scores
# named: sign flipped
def simple_attention_scores(inputs, query):
    return -(inputs @ query)
