# what: scaled by the notebook's D
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `D`
# false: whatever D is|divide by 2|hard-coded|√4 for
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        row = []
        for k in all_keys:
            dot = torch.sum(q * k)
            row.append(dot / math.sqrt(D))  # <-
        all_scores.append(row)
    return all_scores
