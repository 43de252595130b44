# what: assigned instead of appended
# pattern: overwrites
# causes: 1
# true:
# says: last word|overwrit|replaces
# false: return after the first|first word|stops before
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    for x in all_x:
        all_queries = [torch.matmul(W_q, x) + b_q]  # <-
        all_keys = [torch.matmul(W_k, x) + b_k]  # <-
        all_values = [torch.matmul(W_v, x) + b_v]  # <-
    return (all_queries, all_keys, all_values)
