# what: the dot product is not kept
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
def simple_attention_scores(inputs, query):
    scores = torch.zeros(inputs.shape[0], dtype=inputs.dtype)
    for i in range(inputs.shape[0]):
        torch.dot(inputs[i], query)  # <-
    return scores
