# what: columns, scaled by the notebook, absolute
# pattern: three
# causes: 3
# true: the notebook's variables | absolute values | a list returned
# says: from the notebook|`words`
# false:
def simple_attention_scores(inputs, query):
    scores = []
    for i in range(len(words)):  # <-
        s = abs(torch.dot(inputs[i], query))  # <-
        scores.append(s.item())
    return scores  # <-
