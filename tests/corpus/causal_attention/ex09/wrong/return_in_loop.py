# wrong: return inside the loop, only the first score
# named: nothing
def simple_attention_scores(inputs, query):
    attn_scores = torch.zeros(inputs.shape[0])
    for i in range(inputs.shape[0]):
        attn_scores[i] = inputs[i] @ query
        return attn_scores
