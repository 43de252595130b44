# right: a helper function, dot product then a separate scaling pass, a warning on stderr
import warnings


def dot_product(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return (a * b).sum()


def attention_scores(all_queries, all_keys):
    warnings.warn("this is slow, use matrices")
    d_k = all_keys[0].shape[0]
    raw = [[dot_product(q, k) for k in all_keys] for q in all_queries]
    for row in raw:
        for j, s in enumerate(row):
            row[j] = s / math.sqrt(d_k)
    return raw
