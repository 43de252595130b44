# right: two loops with a running sum
def simple_attention_scores(inputs, query):
    T, d = inputs.shape
    scores = []
    for t in range(T):
        s = inputs[t, 0] * query[0]
        for j in range(1, d):
            s = s + inputs[t, j] * query[j]
        scores.append(s)
    return torch.stack(scores)
