# wrong: two mistakes, weights transposed and biases forgotten
# named: without bias + matrix transposed
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    return [W_q.T @ x for x in all_x], [W_k.T @ x for x in all_x], [W_v.T @ x for x in all_x]
