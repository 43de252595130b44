# wrong: everything in float16
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    Q, K, V = (torch.cat(list(t), 1).half() for t in (all_queries, all_keys, all_values))
    A = torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=0)
    return list((V @ A).float().split(1, dim=1))
