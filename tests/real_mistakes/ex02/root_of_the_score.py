# what: the root is taken of everything
# pattern: wrong-exponent
# causes: 1
# true:
# says: NaN|root
# false: absolute value|not scaled|by D\.
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        scores = []
        for k in all_keys:
            dot = torch.sum(q * k)
            scores.append(torch.sqrt(dot / q.shape[0]))  # <-
        all_scores.append(scores)
    return all_scores
