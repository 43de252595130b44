# right: einsum, the (N, D, 1) stack returned where a list is asked for
def self_attention(all_queries, all_keys, all_values):
    Q, K, V = torch.stack(all_queries), torch.stack(all_keys), torch.stack(all_values)
    S = torch.einsum("qdo,kdo->qk", Q, K) / math.sqrt(Q.size(1))
    return torch.einsum("qk,kdo->qdo", S.softmax(dim=-1), V)
