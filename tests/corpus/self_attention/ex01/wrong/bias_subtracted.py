# wrong: minus the bias
# named: bias subtracted
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = [W_q @ x - b_q for x in all_x]
    k = [W_k @ x - b_k for x in all_x]
    v = [W_v @ x - b_v for x in all_x]
    return q, k, v
