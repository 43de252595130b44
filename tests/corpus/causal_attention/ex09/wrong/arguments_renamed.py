# wrong: the arguments have other names, the body reads the notebook's inputs and query
# named: nothing
def simple_attention_scores(x, q):
    attn_scores = torch.empty(inputs.shape[0])
    for i, x_i in enumerate(inputs):
        attn_scores[i] = torch.dot(x_i, query)
    return attn_scores
