# right: a loop over sentences and heads
def attention_backward(queries, keys, values, grad_output):
    B, H, T, d = queries.shape
    dq, dk, dv = (torch.zeros_like(x) for x in (queries, keys, values))
    for b in range(B):
        for h in range(H):
            Q, K, V, G = queries[b, h], keys[b, h], values[b, h], grad_output[b, h]
            P = torch.softmax(Q @ K.T / d**0.5, dim=1)
            for t in range(T):
                p = P[t]
                jacobian = torch.diag(p) - torch.outer(p, p)
                ds = jacobian @ (V @ G[t]) / d**0.5
                dq[b, h, t] = ds @ K
                dk[b, h] += torch.outer(ds, Q[t])
                dv[b, h] += torch.outer(p, G[t])
    return [dq, dk, dv]
