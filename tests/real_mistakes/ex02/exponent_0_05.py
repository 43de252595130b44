# what: ** 0.05 for ** 0.5
# pattern: wrong-exponent
# causes: 1
# true:
# says: 0\.05|exponent|power
# false: not scaled|by D²
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        all_scores.append([torch.sum(q * k) / q.shape[0] ** 0.05 for k in all_keys])  # <-
    return all_scores
