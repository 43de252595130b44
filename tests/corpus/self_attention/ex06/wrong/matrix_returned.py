# wrong: right numbers, but returned as one matrix as in exercise 7
# named: outputs side by side
def self_attention(all_queries, all_keys, all_values):
    Q, K, V = torch.hstack(all_queries), torch.hstack(all_keys), torch.hstack(all_values)
    scores = K.T @ Q / math.sqrt(Q.shape[0])
    return V @ torch.softmax(scores, dim=0)
