# wrong: two mistakes, keys outside and no scaling
# named: not scaled + one list per key
def attention_scores(all_queries, all_keys):
    return [[(k * q).sum() for q in all_queries] for k in all_keys]
