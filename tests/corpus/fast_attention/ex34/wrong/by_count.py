# wrong: divided by t
# named: divided by the number of words
def linear_attention(queries, keys, values):
    B, H, T, d = queries.shape
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    state = values.new_zeros(B, H, d, d)
    norm = values.new_zeros(B, H, d)
    outputs = []
    for t in range(T):
        state = state + k[:, :, t, :, None] * values[:, :, t, None, :]
        norm = norm + k[:, :, t]
        top = (q[:, :, t, None] @ state)[:, :, 0]
        bottom = (q[:, :, t] * norm).sum(-1, keepdim=True)
        outputs.append(top / (t + 1))
    return torch.stack(outputs, dim=2)
