# right: recursion over the list of words
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    if len(all_x) == 0:
        return [], [], []
    x, rest = all_x[0], all_x[1:]
    q, k, v = compute_qkv(rest, W_q, W_k, W_v, b_q, b_k, b_v)
    return [b_q + W_q @ x] + q, [b_k + W_k @ x] + k, [b_v + W_v @ x] + v
