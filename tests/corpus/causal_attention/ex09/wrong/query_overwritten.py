# wrong: query is set to the first word, so the argument is lost
# named: first word as the query
def simple_attention_scores(inputs, query):
    query = inputs[0]
    attn_scores = torch.empty(inputs.shape[0], device=inputs.device)
    for i, x_i in enumerate(inputs):
        attn_scores[i] = torch.dot(x_i, query)
    return attn_scores
