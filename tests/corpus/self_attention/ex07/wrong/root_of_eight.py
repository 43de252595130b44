# wrong: the root of 8 is hard-coded, from a textbook example with d_k = 8
# named: divided by √8
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    d_k = 8
    queries, keys, values = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    energies = keys.transpose(0, 1) @ queries * (1.0 / math.sqrt(d_k))
    return values @ softmax_cols(energies)
