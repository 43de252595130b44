# what: the notebook's attn_weights are used
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|attn_weights|attn`.*never
# false:
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    attn = torch.softmax(scores, dim=-1)
    return attn_weights @ inputs  # <-
