# right: by blocks of queries, as FlashAttention does
def attention_backward(queries, keys, values, grad_output, block=2):
    *_, T, d = queries.shape
    scale = d**-0.5
    dQ, dK, dV = torch.zeros_like(queries), torch.zeros_like(keys), torch.zeros_like(values)
    Lse = queries.new_empty(*queries.shape[:-1])
    out = torch.empty_like(queries)
    for i in range(0, T, block):
        rows = slice(i, min(i + block, T))
        m = torch.full_like(Lse[..., rows], -torch.inf)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(queries[..., rows, :])
        for j in range(0, T, block):
            S = queries[..., rows, :] @ keys[..., j : j + block, :].mT * scale
            m_new = torch.maximum(m, S.amax(-1))
            P = torch.exp(S - m_new[..., None])
            alpha = torch.exp(m - m_new)
            l = alpha * l + P.sum(-1)
            acc = alpha[..., None] * acc + P @ values[..., j : j + block, :]
            m = m_new
        out[..., rows, :] = acc / l[..., None]
        Lse[..., rows] = m + l.log()
    D = torch.sum(grad_output * out, dim=-1)
    for j in range(0, T, block):
        K_j, V_j = keys[:, :, j : j + block], values[:, :, j : j + block]
        for i in range(0, T, block):
            Q_i, dO_i = queries[:, :, i : i + block], grad_output[:, :, i : i + block]
            P = (Q_i @ K_j.mT * scale - Lse[:, :, i : i + block, None]).exp()
            dV[:, :, j : j + block] += P.mT @ dO_i
            dS = P * (dO_i @ V_j.mT - D[:, :, i : i + block, None]) * scale
            dQ[:, :, i : i + block] += dS @ K_j
            dK[:, :, j : j + block] += dS.mT @ Q_i
    return dQ, dK, dV
