# wrong: the argument has another name, the body reads the notebook's inputs
# named: the notebook's words
def all_context_vectors(x):
    attn_scores = inputs @ inputs.T
    attn_weights = torch.softmax(attn_scores, dim=-1)
    return attn_weights @ inputs
