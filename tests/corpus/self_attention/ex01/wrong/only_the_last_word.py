# wrong: the results are overwritten in the loop, the vectors of the last word come back alone
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    for x in all_x:
        queries = W_q @ x + b_q
        keys = W_k @ x + b_k
        values = W_v @ x + b_v
    return queries, keys, values
