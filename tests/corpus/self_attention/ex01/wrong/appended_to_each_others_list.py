# wrong: the query is appended to the keys and the key to the queries
# named: queries and keys exchanged
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        query = W_q @ x + b_q
        key = W_k @ x + b_k
        value = W_v @ x + b_v
        all_keys.append(query)
        all_queries.append(key)
        all_values.append(value)
    return all_queries, all_keys, all_values
