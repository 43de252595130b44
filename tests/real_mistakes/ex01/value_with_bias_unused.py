# what: the value with its bias has another name than the one collected
# pattern: unused-result
# causes: 1
# true:
# says: value_n.*never|never.*value_n
# false:
# follows: values without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = list()
    all_keys = list()
    all_values = list()
    for n in range(len(all_x)):
        xn = all_x[n]
        # q = beta_q + Omega_q x
        query = b_q + torch.matmul(W_q, xn)
        key = b_k + torch.matmul(W_k, xn)
        value = torch.matmul(W_v, xn)
        value_n = b_v + value
        all_queries.append(query)
        all_keys.append(key)
        all_values.append(value)  # <-
    return all_queries, all_keys, all_values
