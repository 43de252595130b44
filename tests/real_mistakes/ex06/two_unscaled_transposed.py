# what: not scaled, weights transposed
# pattern: two
# causes: 2
# true: not scaled | weights transposed
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    Q = torch.cat(all_queries, dim=1)
    K = torch.cat(all_keys, dim=1)
    V = torch.cat(all_values, dim=1)
    A = torch.softmax(Q.T @ K, dim=1)  # <-
    Y = V @ A  # <-
    return list(torch.split(Y, 1, dim=1))
