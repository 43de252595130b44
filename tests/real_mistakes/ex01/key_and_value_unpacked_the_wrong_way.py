# what: a helper of their own is called with bias and matrix in the places of the other
# pattern: arguments-exchanged
# causes: 1
# true: keys and values exchanged
# says:
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    def affine(bias, W, x):
        return bias + W @ x

    all_queries = [affine(b_q, W_q, x) for x in all_x]
    all_keys = [affine(b_v, W_v, x) for x in all_x]  # <-
    all_values = [affine(b_k, W_k, x) for x in all_x]  # <-
    return all_queries, all_keys, all_values
