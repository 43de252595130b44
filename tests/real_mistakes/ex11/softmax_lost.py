# what: softmax without an assignment
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: raw scores as weights
def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.T
    torch.softmax(attn_scores, dim=-1)  # <-
    all_context_vecs = attn_scores @ inputs
    return all_context_vecs
