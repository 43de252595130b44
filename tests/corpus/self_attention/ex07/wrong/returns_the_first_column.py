# wrong: return stands inside the loop over the words
# named: first word only
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    for x in X.split(1, dim=1):
        q = W_q @ x + b_q
        scores = K.T @ q / math.sqrt(q.shape[0])
        y = V @ softmax_cols(scores)
        return y
