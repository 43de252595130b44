# what: - for +
# pattern: operator
# causes: 1
# true:
# says: subtract|minus|b_v
# false: is missing|[Bb]iases should be added, not subtracted: Q
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    # 1. queries, keys and values
    queries = torch.matmul(W_q, X) + b_q
    keys = torch.matmul(W_k, X) + b_k
    values = torch.matmul(W_v, X) - b_v  # <-

    # 2. dot products of keys and queries
    dot_products = torch.matmul(keys.T, queries)

    # 3. scale
    d_k = keys.shape[0]
    scaled_scores = dot_products / math.sqrt(d_k)

    # 4. softmax on the columns
    attention = softmax_cols(scaled_scores)

    # 5. weighted sums
    X_prime = torch.matmul(values, attention)
    return X_prime
