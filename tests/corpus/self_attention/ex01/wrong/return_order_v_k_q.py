# wrong: returned backwards, values, keys, queries
# named: reverse order
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    results = {}
    for name, W, b in [("v", W_v, b_v), ("k", W_k, b_k), ("q", W_q, b_q)]:
        results[name] = []
        for x in all_x:
            results[name].append(torch.matmul(W, x) + b)
    return tuple(results.values())
