# wrong: takes queries, keys and values from the cells above
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = torch.cat(all_queries, dim=1)
    K = torch.cat(all_keys, dim=1)
    V = torch.cat(all_values, dim=1)
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
