# what: the list of scores is never emptied
# pattern: overwrites
# causes: 1
# true:
# says: new list|goes on growing|never (reset|emptied)|for every query
# false: sum of one query goes on|first query's weights|Use those of the current
def self_attention(all_queries, all_keys, all_values):
    outs = []
    scores = []  # <-
    for q in all_queries:
        for k in all_keys:
            scores.append(torch.sum(q * k) / math.sqrt(q.shape[0]))
        w = softmax(torch.stack(scores))
        total = torch.zeros_like(all_values[0])
        for a, v in zip(w, all_values):
            total = total + a * v
        outs.append(total)
    return outs
