# what: notebook's N, transposed matrices, values with the bias of the keys
# pattern: three
# causes: 3
# true: the notebook's variables | matrix transposed
# says: notebook|b_k
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for i in range(N):  # <-
        x = all_x[i]
        all_queries.append(W_q.T @ x + b_q)  # <-
        all_keys.append(W_k.T @ x + b_k)  # <-
        all_values.append(W_v.T @ x + b_k)  # <-
    return all_queries, all_keys, all_values
