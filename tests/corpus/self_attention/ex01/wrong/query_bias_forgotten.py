# wrong: a line broken in two, so the bias of the queries is computed and thrown away
# named: queries without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        q = W_q @ x
        + b_q
        k = W_k @ x + b_k
        v = W_v @ x + b_v
        all_queries.append(q)
        all_keys.append(k)
        all_values.append(v)
    return all_queries, all_keys, all_values
