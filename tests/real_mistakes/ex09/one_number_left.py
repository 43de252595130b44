# what: the score is replaced in each step
# pattern: overwrites
# causes: 1
# true: last score only
# says:
# false:
def simple_attention_scores(inputs, query):
    for x_i in inputs:
        score = torch.dot(x_i, query)  # <-
    return score
