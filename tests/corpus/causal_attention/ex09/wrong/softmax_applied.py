# wrong: softmax is already applied, weights instead of scores
# named: softmax applied
def simple_attention_scores(inputs, query):
    scores = inputs @ query
    return torch.softmax(scores, dim=0)
