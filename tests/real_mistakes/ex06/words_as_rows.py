# what: the size is read as of rows
# pattern: words-as-rows
# causes: 1
# true: divided by √N
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    Q = torch.cat(all_queries, dim=1)
    K = torch.cat(all_keys, dim=1)
    V = torch.cat(all_values, dim=1)
    S = Q.T @ K / math.sqrt(Q.shape[1])  # <-
    A = torch.softmax(S, dim=1)
    Y = V @ A.T
    return [Y[:, [i]] for i in range(Y.shape[1])]
