# wrong: off by one, the last word is ignored
# named: last word left out
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for i in range(0, len(all_x) - 1):
        all_queries.append(b_q + W_q @ all_x[i])
        all_keys.append(b_k + W_k @ all_x[i])
        all_values.append(b_v + W_v @ all_x[i])
    return all_queries, all_keys, all_values
