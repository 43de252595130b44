# what: scaled by √d, and softmax
# pattern: two
# causes: 2
# true: scaled by √d | softmax applied
# says:
# false:
def simple_attention_scores(inputs, query):
    d_k = inputs.shape[1]
    scores = inputs @ query / d_k ** 0.5  # <-
    return torch.softmax(scores, dim=0)  # <-
