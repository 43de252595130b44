# what: the query is repeated: (T, T)
# pattern: wrong-shape
# causes: 1
# true:
# says: repeat|\(T, T\)|column
# false: every word with every word|leave out the query
def simple_attention_scores(inputs, query):
    q = query.repeat(inputs.shape[0], 1)
    scores = inputs @ q.T  # <-
    return scores
