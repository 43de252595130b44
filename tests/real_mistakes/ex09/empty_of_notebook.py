# what: an empty tensor as long as the notebook's attn_scores
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|attn_scores
# false: ends too early|six words
def simple_attention_scores(inputs, query):
    res = torch.empty(attn_scores.shape[0], dtype=inputs.dtype)  # <-
    for i in range(inputs.shape[0]):
        res[i] = torch.sum(inputs[i] * query)
    return res
