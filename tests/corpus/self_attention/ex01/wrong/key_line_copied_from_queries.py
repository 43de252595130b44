# wrong: copy and paste, the line for the keys still has W_q and b_q
# named: keys like queries
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = [torch.add(torch.matmul(W_q, x), b_q) for x in all_x]
    all_keys = [torch.add(torch.matmul(W_q, x), b_q) for x in all_x]
    all_values = [torch.add(torch.matmul(W_v, x), b_v) for x in all_x]
    return all_queries, all_keys, all_values
