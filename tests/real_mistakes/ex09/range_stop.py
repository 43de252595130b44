# what: the last word has no score
# pattern: off-by-one
# causes: 1
# true: last score left out
# says:
# false:
def simple_attention_scores(inputs, query):
    scores = torch.zeros(inputs.shape[0], dtype=inputs.dtype)
    for i in range(inputs.shape[0] - 1):  # <-
        scores[i] = inputs[i] @ query
    return scores
