# what: the lists are made anew in every step
# pattern: overwrites
# causes: 1
# true:
# says: last word|new list|each (loop )?step
# false: return after the first|first word|last word left out|stops before
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    for x in all_x:
        all_queries = []  # <-
        all_keys = []  # <-
        all_values = []  # <-
        all_queries.append(W_q.matmul(x).add(b_q))
        all_keys.append(W_k.matmul(x).add(b_k))
        all_values.append(W_v.matmul(x).add(b_v))
    return all_queries, all_keys, all_values
