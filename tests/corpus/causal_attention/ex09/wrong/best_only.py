# wrong: only the score of the word that fits best is returned
# named: largest score only
def simple_attention_scores(inputs, query):
    best = torch.dot(inputs[0], query)
    for word in inputs[1:]:
        score = torch.dot(word, query)
        if score > best:
            best = score
    return best
