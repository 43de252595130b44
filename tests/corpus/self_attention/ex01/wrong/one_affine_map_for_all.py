# wrong: the affine map of the queries is used three times, weights and bias
# named: query parameters for everything
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    def linear(x):
        return torch.matmul(W_q, x) + b_q

    all_queries = [linear(x) for x in all_x]
    all_keys = [linear(x) for x in all_x]
    all_values = [linear(x) for x in all_x]
    return all_queries, all_keys, all_values
