# what: one flat list, not scaled
# pattern: two
# causes: 2
# true: one flat list | not scaled
# says:
# false:
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        for k in all_keys:
            scores.append(torch.sum(q * k))  # <-
    return scores  # <-
