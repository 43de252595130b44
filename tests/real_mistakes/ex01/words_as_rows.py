# what: multiplied from the left as if words were rows
# pattern: words-as-rows
# causes: 1
# true: row times matrix | words as rows
# says: xᵀ W|rows?
# false: numbers are right
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        q = x.T @ W_q + b_q.T  # <-
        k = x.T @ W_k + b_k.T  # <-
        v = x.T @ W_v + b_v.T  # <-
        all_queries.append(q)
        all_keys.append(k)
        all_values.append(v)
    return all_queries, all_keys, all_values
