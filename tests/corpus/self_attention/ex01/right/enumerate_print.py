# right: preallocated lists, enumerate, prints while working
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    n = len(all_x)
    all_queries, all_keys, all_values = [None] * n, [None] * n, [None] * n
    for i, x in enumerate(all_x):
        print("word", i, "shape", x.shape)
        all_queries[i] = torch.mm(W_q, x) + b_q
        all_keys[i] = torch.mm(W_k, x) + b_k
        all_values[i] = torch.mm(W_v, x) + b_v
    print("done!", all_queries)
    return all_queries, all_keys, all_values
