# wrong: return is indented into the loop, so only the first word is done
# named: one word's results only
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        all_queries.append(b_q + W_q @ x)
        all_keys.append(b_k + W_k @ x)
        all_values.append(b_v + W_v @ x)
        return all_queries, all_keys, all_values
