# right: tuples of tuples, generator expressions, torch.rsqrt
def attention_scores(all_queries, all_keys):
    c = torch.rsqrt(torch.tensor(float(len(all_keys[0]))))
    return tuple(tuple(torch.sum(q.mul(k)) * c for k in all_keys) for q in all_queries)
