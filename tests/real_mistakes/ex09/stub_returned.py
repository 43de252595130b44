# what: returns the list of the beginning
# pattern: stub-variable
# causes: 1
# true:
# says: result.*never
# false:
def simple_attention_scores(inputs, query):
    attn_scores = torch.zeros(inputs.shape[0], dtype=inputs.dtype)
    result = inputs @ query
    return attn_scores  # <-
