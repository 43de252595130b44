# wrong: x @ W_q with a column vector, which raises
# named: words as rows
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        all_queries.append(x @ W_q + b_q)
        all_keys.append(x @ W_k + b_k)
        all_values.append(x @ W_v + b_v)
    return all_queries, all_keys, all_values
