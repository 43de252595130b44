# right: in-place accumulation, but on a clone of the bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    qs, ks, vs = [], [], []
    for x in all_x:
        for W, b, out in ((W_q, b_q, qs), (W_k, b_k, ks), (W_v, b_v, vs)):
            y = b.clone()
            y += W @ x
            out.append(y)
    return [qs, ks, vs]
