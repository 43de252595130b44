# wrong: right numbers, but every vector is returned as a row (1, D) instead of a column
# named: row vectors
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = [(b_q + W_q @ x).T for x in all_x]
    k = [(b_k + W_k @ x).T for x in all_x]
    v = [(b_v + W_v @ x).T for x in all_x]
    return q, k, v
