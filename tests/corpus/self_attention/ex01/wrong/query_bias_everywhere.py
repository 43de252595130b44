# wrong: three matrices, but b_q is added to all three results
# named: one bias for all three
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    out = []
    for W in (W_q, W_k, W_v):
        part = []
        for x in all_x:
            part.append(W @ x + b_q)
        out.append(part)
    return out[0], out[1], out[2]
