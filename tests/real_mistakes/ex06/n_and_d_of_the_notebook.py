# what: loops and scale with the notebook's N and D
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `D` and `N`
# false: stops before|whatever D|divided by 2
def self_attention(all_queries, all_keys, all_values):
    all_outputs = []
    for n in range(N):  # <-
        scores = torch.zeros(N)  # <-
        for m in range(N):  # <-
            scores[m] = torch.dot(all_queries[n].flatten(), all_keys[m].flatten()) / D ** 0.5  # <-
        weights = torch.softmax(scores, dim=0)
        out = torch.zeros(D, 1)  # <-
        for m in range(N):  # <-
            out += weights[m] * all_values[m]
        all_outputs.append(out)
    return all_outputs
