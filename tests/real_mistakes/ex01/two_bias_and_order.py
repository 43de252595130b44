# what: no bias for the queries, and the order of the results is reversed
# pattern: two
# causes: 2
# true: queries without bias | reverse order
# says:
# false: bias of the values|values without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    queries = []
    keys = []
    values = []
    for x in all_x:
        queries.append(W_q @ x)  # <-
        keys.append(W_k @ x + b_k)
        values.append(W_v @ x + b_v)
    return values, keys, queries  # <-
