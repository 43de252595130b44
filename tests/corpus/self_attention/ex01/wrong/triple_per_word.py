# wrong: one list of (query, key, value) per word instead of three lists
# named: grouped by word
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    out = []
    for x in all_x:
        out.append([b_q + W_q @ x, b_k + W_k @ x, b_v + W_v @ x])
    return out
