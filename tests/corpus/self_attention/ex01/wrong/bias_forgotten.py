# wrong: the biases are never added
# named: without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        all_queries.append(W_q @ x)
        all_keys.append(W_k @ x)
        all_values.append(W_v @ x)
    return all_queries, all_keys, all_values
