# wrong: the weights are transposed, W.T x instead of W x
# named: matrix transposed
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = [b_q + W_q.T @ x for x in all_x]
    k = [b_k + W_k.T @ x for x in all_x]
    v = [b_v + W_v.T @ x for x in all_x]
    return q, k, v
