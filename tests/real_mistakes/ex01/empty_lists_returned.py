# what: the lists of the beginning are returned, results are in others
# pattern: stub-variable
# causes: 1
# true:
# says: never use|empty
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    queries = [W_q @ x + b_q for x in all_x]
    keys = [W_k @ x + b_k for x in all_x]
    values = [W_v @ x + b_v for x in all_x]
    return all_queries, all_keys, all_values  # <-
