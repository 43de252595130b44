# wrong: all_x[0] in the loop, so every word gets the vectors of the first
# named: first word only
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for i in range(len(all_x)):
        all_queries.append(torch.matmul(W_q, all_x[0]) + b_q)
        all_keys.append(torch.matmul(W_k, all_x[0]) + b_k)
        all_values.append(torch.matmul(W_v, all_x[0]) + b_v)
    return all_queries, all_keys, all_values
