# what: the two factors are exchanged
# pattern: arguments-exchanged
# causes: 1
# true: inputs transposed
# says: exchang|order
# false: inputs of other sizes
def simple_attention_scores(inputs, query):
    scores = torch.matmul(query, inputs)  # <-
    return scores
