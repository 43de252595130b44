# what: * 0.5 for ** 0.5
# pattern: wrong-exponent
# causes: 1
# true:
# says: half|\* 0\.5|D / 2|D/2
# false: whatever D|by D\.
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        scores_of_q = []
        dim = q.size(0)
        for k in all_keys:
            dot_product = (q * k).sum()
            scores_of_q.append(dot_product / (dim * 0.5))  # <-
        all_scores.append(scores_of_q)
    return all_scores
