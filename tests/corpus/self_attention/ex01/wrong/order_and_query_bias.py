# wrong: two mistakes, keys and values swapped in the return and the query bias used everywhere
# named: one bias for all three + keys and values exchanged
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    queries = [b_q + W_q @ x for x in all_x]
    keys = [b_q + W_k @ x for x in all_x]
    values = [b_q + W_v @ x for x in all_x]
    return queries, values, keys
