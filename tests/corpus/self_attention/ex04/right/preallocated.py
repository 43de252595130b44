# right: a preallocated list filled by index
def attention_weights(all_attention_scores):
    n = len(all_attention_scores)
    weights = [None] * n
    i = 0
    while i < n:
        scores = torch.zeros(len(all_attention_scores[i]))
        for j, s in enumerate(all_attention_scores[i]):
            scores[j] = s
        weights[i] = softmax(scores)
        i += 1
    return weights
