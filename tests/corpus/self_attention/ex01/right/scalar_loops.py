# right: every entry computed by hand with three nested loops into an own tensor
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    result = []
    for W, b in [(W_q, b_q), (W_k, b_k), (W_v, b_v)]:
        outs = []
        for x in all_x:
            y = torch.zeros(W.shape[0], 1)
            for i in range(W.shape[0]):
                y[i, 0] = b[i, 0]
                for j in range(W.shape[1]):
                    y[i, 0] += W[i, j] * x[j, 0]
            outs.append(y)
        result.append(outs)
    return result[0], result[1], result[2]
