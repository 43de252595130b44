# wrong: right for float32, but torch.zeros has that type whatever the inputs have
# named: not the input's dtype
def simple_attention_scores(inputs, query):
    scores = torch.zeros(inputs.shape[0])
    for i, word in enumerate(inputs):
        scores[i] = torch.dot(word, query)
    return scores
