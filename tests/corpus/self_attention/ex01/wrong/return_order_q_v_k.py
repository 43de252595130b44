# wrong: returned in the order queries, values, keys
# named: keys and values exchanged
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = [b_q + W_q @ x for x in all_x]
    all_keys = [b_k + W_k @ x for x in all_x]
    all_values = [b_v + W_v @ x for x in all_x]
    return all_queries, all_values, all_keys
