# wrong: the bias is multiplied with W x, entry by entry, instead of added
# named: bias multiplied
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    queries = []
    keys = []
    values = []
    for i in range(len(all_x)):
        x_i = all_x[i]
        queries.append(torch.mul(b_q, torch.matmul(W_q, x_i)))
        keys.append(torch.mul(b_k, torch.matmul(W_k, x_i)))
        values.append(torch.mul(b_v, torch.matmul(W_v, x_i)))
    return queries, keys, values
