# Forgets to scale, everywhere.
def attention_scores(all_queries, all_keys):
    return [[(q * k).sum() for k in all_keys] for q in all_queries]


def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    return V @ softmax_cols(K.T @ Q)
