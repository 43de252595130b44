# what: the loop runs over the notebook's N
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: notebook
# false: stops before the last|first word
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    # go through all the inputs
    for i in range(N):  # <-
        x = all_x[i]
        all_queries.append(torch.matmul(W_q, x) + b_q)
        all_keys.append(torch.matmul(W_k, x) + b_k)
        all_values.append(torch.matmul(W_v, x) + b_v)
    return all_queries, all_keys, all_values
