# what: results are reshaped with the notebook's D
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: notebook
# false: whatever .* is|hard-coded
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    qs, ks, vs = [], [], []
    for x in all_x:
        q = (W_q @ x + b_q).reshape(D, 1)  # <-
        k = (W_k @ x + b_k).reshape(D, 1)  # <-
        v = (W_v @ x + b_v).reshape(D, 1)  # <-
        qs.append(q)
        ks.append(k)
        vs.append(v)
    return qs, ks, vs
