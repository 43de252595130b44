# wrong: keys are computed from the query instead of from x
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        query = b_q + W_q @ x
        key = b_k + W_k @ query
        value = b_v + W_v @ key
        all_queries.append(query)
        all_keys.append(key)
        all_values.append(value)
    return all_queries, all_keys, all_values
