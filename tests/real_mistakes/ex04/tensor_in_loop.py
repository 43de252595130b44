# what: the list of weights begins again for each query
# pattern: overwrites
# causes: 1
# true:
# says: last|overwrit|each step|anew
# false: first query
def attention_weights(all_attention_scores):
    for row in all_attention_scores:
        collected = []  # <-
        row = torch.stack([torch.as_tensor(s) for s in row])
        collected.append(softmax(row))
    return collected
