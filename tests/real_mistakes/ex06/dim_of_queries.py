# what: softmax over the queries
# pattern: wrong-axis
# causes: 1
# true: softmax over queries
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    Q = torch.cat(all_queries, dim=1)
    K = torch.cat(all_keys, dim=1)
    V = torch.cat(all_values, dim=1)
    S = Q.T @ K / Q.shape[0] ** 0.5  # rows: queries
    A = torch.softmax(S, dim=0)  # <-
    Y = V @ A.T
    return [Y[:, [i]] for i in range(Y.shape[1])]
