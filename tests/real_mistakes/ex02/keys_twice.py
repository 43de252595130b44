# what: the second index was copied: keys with keys
# pattern: copied-line
# causes: 1
# true: keys with keys
# says:
# false:
def attention_scores(all_queries, all_keys):
    all_scores = []
    for i in range(len(all_queries)):
        scores = []
        for j in range(len(all_keys)):
            q = all_keys[i]  # <-
            k = all_keys[j]
            scores.append((q.T @ k).item() / math.sqrt(q.shape[0]))
        all_scores.append(scores)
    return all_scores
