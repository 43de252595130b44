# wrong: right numbers, but in a list of floats
# named: a list returned
def simple_attention_scores(inputs, query):
    attn_scores = []
    for x in inputs:
        attn_scores.append(torch.dot(x, query).item())
    return attn_scores
