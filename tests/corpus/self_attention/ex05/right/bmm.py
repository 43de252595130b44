# right: batched matrix product
def weighted_sums(all_attention_weights, all_values):
    n = len(all_attention_weights)
    W = torch.stack(tuple(all_attention_weights)).unsqueeze(-1)  # N, N, 1
    V = torch.cat(tuple(all_values), 1).repeat(n, 1, 1)  # N, D, N
    return list(torch.bmm(V, W))
