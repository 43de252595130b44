# what: flat words and (D, 1) biases make (D, D) by broadcasting
# pattern: wrong-shape
# causes: 1
# true:
# says: shape|broadcast|flat
# false: numbers are right|dropped a dimension|W \* x|grouped
# follows: words as rows
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        x = x.flatten()  # <-
        all_queries.append(torch.mv(W_q, x) + b_q)
        all_keys.append(torch.mv(W_k, x) + b_k)
        all_values.append(torch.mv(W_v, x) + b_v)
    return all_queries, all_keys, all_values
