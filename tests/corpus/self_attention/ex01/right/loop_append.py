# right: a plain for loop with append and torch.matmul
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        query = b_q + torch.matmul(W_q, x)
        key = b_k + torch.matmul(W_k, x)
        value = b_v + torch.matmul(W_v, x)
        all_queries.append(query)
        all_keys.append(key)
        all_values.append(value)
    return all_queries, all_keys, all_values
