# what: words read as columns
# pattern: words-as-rows
# causes: 1
# true: inputs transposed
# says: transpos
# false: inputs of other sizes
def simple_attention_scores(inputs, query):
    scores = inputs.T @ query  # <-
    return scores
