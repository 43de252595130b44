# wrong: the second word is the query, whatever query is given
# named: second word as the query
def simple_attention_scores(inputs, query):
    query = inputs[1]
    attn_scores = torch.empty(inputs.shape[0])
    for i, x_i in enumerate(inputs):
        attn_scores[i] = torch.dot(x_i, query)
    return attn_scores
