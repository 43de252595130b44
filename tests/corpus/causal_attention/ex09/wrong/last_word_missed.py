# wrong: off by one, the last word keeps a zero
# named: last score left out
def simple_attention_scores(inputs, query):
    attn_scores = torch.zeros(inputs.shape[0])
    for i in range(len(inputs) - 1):
        attn_scores[i] = torch.dot(inputs[i], query)
    return attn_scores
