# what: a while loop keeps the last score
# pattern: overwrites
# causes: 1
# true: last score only
# says: last|overwrit|each step
# false: first word
def simple_attention_scores(inputs, query):
    i = 0
    while i < inputs.shape[0]:
        result = torch.sum(inputs[i] * query).reshape(1)  # <-
        i += 1
    return result
