# wrong: a causal mask, words after the query get minus infinity
# named: future hidden
def attention_scores(all_queries, all_keys):
    out = []
    for i, q in enumerate(all_queries):
        out.append([(q * k).sum() / math.sqrt(len(q)) if j <= i else torch.tensor(-math.inf) for j, k in enumerate(all_keys)])
    return out
