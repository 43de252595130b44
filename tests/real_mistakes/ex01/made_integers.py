# what: numbers are cut to whole numbers
# pattern: dtype
# causes: 1
# true:
# says: rounded|whole numbers|integer|dtype|int
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = [(W_q @ x + b_q).int() for x in all_x]  # <-
    all_keys = [(W_k @ x + b_k).int() for x in all_x]  # <-
    all_values = [(W_v @ x + b_v).int() for x in all_x]  # <-
    return all_queries, all_keys, all_values
