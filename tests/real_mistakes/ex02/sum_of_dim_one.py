# what: the products are summed over the axis of length 1
# pattern: wrong-axis
# causes: 1
# true: not summed
# says: dim=1|axis
# false: do not sum
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        row = []
        for key in all_keys:
            prod = query * key
            row.append(torch.sum(prod, dim=1) / math.sqrt(query.shape[0]))  # <-
        all_scores.append(row)
    return all_scores
