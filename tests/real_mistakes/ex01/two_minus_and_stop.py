# what: the bias is subtracted, and the last word left out
# pattern: two
# causes: 2
# true: bias subtracted | last word left out
# says:
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    n = len(all_x)
    for i in range(n - 1):  # <-
        x = all_x[i]
        all_queries.append(W_q @ x - b_q)  # <-
        all_keys.append(W_k @ x - b_k)  # <-
        all_values.append(W_v @ x - b_v)  # <-
    return all_queries, all_keys, all_values
