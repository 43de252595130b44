# wrong: words after the last full block are left out
# named: nothing
def linear_attention(queries, keys, values):
    B, H, T, d = queries.shape
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    c = min(T, 64)
    n = T // c
    out = []
    S = q.new_zeros(B, H, d, d); z = q.new_zeros(B, H, d)
    for i in range(n):
        a, b, v = (x[:, :, i*c:(i+1)*c] for x in (q, k, values))
        w = (a @ b.transpose(-2, -1)).tril()
        num = w @ v + a @ S
        den = w.sum(-1, keepdim=True) + (a * z[:, :, None]).sum(-1, keepdim=True)
        out.append(num / den)
        S = S + b.transpose(-2, -1) @ v; z = z + b.sum(2)
    return torch.cat(out, 2)
