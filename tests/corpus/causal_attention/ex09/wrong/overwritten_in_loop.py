# wrong: one variable for all scores, the last one is left
# named: last score only
def simple_attention_scores(inputs, query):
    for i in range(len(inputs)):
        attn_score = torch.sum(inputs[i] * query)
    return attn_score
