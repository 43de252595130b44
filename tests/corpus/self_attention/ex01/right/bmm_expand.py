# right: batched matmul with expanded weights
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    batch = torch.stack(list(all_x))
    n = batch.size(0)
    outs = []
    for W, b in zip([W_q, W_k, W_v], [b_q, b_k, b_v]):
        y = torch.baddbmm(b.unsqueeze(0).expand(n, -1, -1), W.unsqueeze(0).expand(n, -1, -1), batch)
        outs.append([y[i] for i in range(n)])
    return tuple(outs)
