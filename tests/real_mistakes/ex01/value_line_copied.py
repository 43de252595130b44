# what: values with the matrix of the keys, but their own bias
# pattern: copied-line
# causes: 1
# true:
# says: W_k
# false: W_k and b_k, like the keys|W_q for queries
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        q = torch.matmul(W_q, x)
        q = q + b_q
        all_queries.append(q)
        k = torch.matmul(W_k, x)
        k = k + b_k
        all_keys.append(k)
        v = torch.matmul(W_k, x)  # <-
        v = v + b_v
        all_values.append(v)
    return all_queries, all_keys, all_values
