# wrong: loops over the notebook's N instead of len(all_x)
# named: the notebook's variables
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for n in range(N):
        all_queries.append(b_q + torch.matmul(W_q, all_x[n]))
        all_keys.append(b_k + torch.matmul(W_k, all_x[n]))
        all_values.append(b_v + torch.matmul(W_v, all_x[n]))
    return all_queries, all_keys, all_values
