# wrong: one bias is missing, that of the keys
# named: keys without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for word in all_x:
        q = torch.matmul(W_q, word)
        q = q + b_q
        k = torch.matmul(W_k, word)
        v = torch.matmul(W_v, word)
        v = v + b_v
        all_queries.append(q)
        all_keys.append(k)
        all_values.append(v)
    return all_queries, all_keys, all_values
