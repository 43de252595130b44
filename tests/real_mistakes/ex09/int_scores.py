# what: whole numbers
# pattern: dtype
# causes: 1
# true:
# says: whole|int32|dtype|integer
# false:
def simple_attention_scores(inputs, query):
    scores = torch.zeros(inputs.shape[0], dtype=torch.int32)  # <-
    for i in range(len(inputs)):
        scores[i] = torch.dot(inputs[i], query)
    return scores
