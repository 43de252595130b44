# what: softmax down the columns as in the first assignment
# pattern: words-as-rows
# causes: 1
# true: softmax down the columns
# says:
# false:
def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.T
    attn_weights = torch.softmax(attn_scores, dim=0)  # <-
    return attn_weights @ inputs
