# what: return stands inside of the loop
# pattern: return-in-loop
# causes: 1
# true: one word's results only
# says: after the first word
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        query = torch.matmul(W_q, x) + b_q
        key = torch.matmul(W_k, x) + b_k
        value = torch.matmul(W_v, x) + b_v
        all_queries.append(query)
        all_keys.append(key)
        all_values.append(value)
        return all_queries, all_keys, all_values  # <-
