# what: append gets two arguments
# pattern: typo
# causes: 1
# true:
# says: TypeError|exactly one argument
# false: inputs of other sizes
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for i, x in enumerate(all_x):
        all_queries.append(i, W_q @ x + b_q)  # <-
        all_keys.append(i, W_k @ x + b_k)  # <-
        all_values.append(i, W_v @ x + b_v)  # <-
    return all_queries, all_keys, all_values
