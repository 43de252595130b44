# right: broadcasting over a (N, N, D) product, rows unbound into lists of 0-d tensors
def attention_scores(all_queries, all_keys):
    Q = torch.stack([q[:, 0] for q in all_queries])
    K = torch.stack([k[:, 0] for k in all_keys])
    S = (Q[:, None, :] * K[None, :, :]).sum(-1) / math.sqrt(Q.shape[1])
    return [list(row.unbind()) for row in S]
