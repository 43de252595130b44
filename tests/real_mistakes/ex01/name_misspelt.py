# what: W_v is written w_v
# pattern: typo
# causes: 1
# true:
# says: NameError|w_v
# false: inputs of other sizes
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        all_queries.append(torch.matmul(W_q, x) + b_q)
        all_keys.append(torch.matmul(W_k, x) + b_k)
        all_values.append(torch.matmul(w_v, x) + b_v)  # <-
    return all_queries, all_keys, all_values
