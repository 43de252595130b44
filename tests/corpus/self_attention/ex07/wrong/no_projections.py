# wrong: X takes all three roles, the weights and biases are not used
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    scores = X.T @ X / math.sqrt(X.shape[0])
    return X @ softmax_cols(scores)
