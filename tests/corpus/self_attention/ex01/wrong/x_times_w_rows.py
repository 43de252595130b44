# wrong: row convention, x.T W + b.T, so rows come back and the weights are transposed
# named: row times matrix
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = [x.T @ W_q + b_q.T for x in all_x]
    k = [x.T @ W_k + b_k.T for x in all_x]
    v = [x.T @ W_v + b_v.T for x in all_x]
    return q, k, v
