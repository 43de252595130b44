# wrong: the three lists are joined with +, one long list comes back
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    queries = [W_q @ x + b_q for x in all_x]
    keys = [W_k @ x + b_k for x in all_x]
    values = [W_v @ x + b_v for x in all_x]
    return queries + keys + values
