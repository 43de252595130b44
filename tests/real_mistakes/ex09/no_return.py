# what: ends without return
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None
# false: cannot be read|inputs of other sizes
def simple_attention_scores(inputs, query):
    scores = torch.empty(inputs.shape[0], dtype=inputs.dtype)
    for i, x_i in enumerate(inputs):
        scores[i] = torch.dot(x_i, query)  # <-
    print(scores)
