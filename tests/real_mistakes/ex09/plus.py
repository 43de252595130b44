# what: + for *
# pattern: operator
# causes: 1
# true: added instead of multiplied
# says:
# false:
def simple_attention_scores(inputs, query):
    scores = torch.empty(inputs.shape[0], dtype=inputs.dtype)
    for i, x_i in enumerate(inputs):
        scores[i] = (x_i + query).sum()  # <-
    return scores
