# what: the dot product has a name and is not stored
# pattern: unused-result
# causes: 1
# true:
# says: score_i.*never
# false: first score only|scores summed
def simple_attention_scores(inputs, query):
    scores = torch.zeros(inputs.shape[0]).to(inputs.dtype)
    for i, x_i in enumerate(inputs):
        score_i = torch.dot(x_i, query)
        scores[i] = query[0]  # <-
    return scores
