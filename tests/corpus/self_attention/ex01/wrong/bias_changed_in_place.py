# wrong: += on the bias changes the input, and every word also gets the sum of all words before it
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        q, k, v = b_q, b_k, b_v
        q += W_q @ x
        k += W_k @ x
        v += W_v @ x
        all_queries.append(q)
        all_keys.append(k)
        all_values.append(v)
    return all_queries, all_keys, all_values
