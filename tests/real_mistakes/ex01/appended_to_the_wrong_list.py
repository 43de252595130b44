# what: the value is appended to the keys
# pattern: copied-line
# causes: 1
# true:
# says: all_values|all_keys
# false: exchanged|queries only
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        all_queries.append(W_q @ x + b_q)
        all_keys.append(W_k @ x + b_k)
        all_keys.append(W_v @ x + b_v)  # <-
    return all_queries, all_keys, all_values
