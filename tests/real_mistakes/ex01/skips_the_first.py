# what: the loop begins with the second word
# pattern: off-by-one
# causes: 1
# true:
# says: first word|range\(1
# false: last word|before the last|first word of|computed from the first
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for i in range(1, len(all_x)):  # <-
        all_queries.append(W_q @ all_x[i] + b_q)
        all_keys.append(W_k @ all_x[i] + b_k)
        all_values.append(W_v @ all_x[i] + b_v)
    return all_queries, all_keys, all_values
