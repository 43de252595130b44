# wrong: loop over six words, whatever T is
# named: nothing
def simple_attention_scores(inputs, query):
    scores = torch.empty(6)
    for i in range(6):
        scores[i] = torch.dot(inputs[i], query)
    return scores
