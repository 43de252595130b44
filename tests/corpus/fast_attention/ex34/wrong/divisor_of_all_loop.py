# wrong: the divisor is over all words
# named: divisor of all words
def linear_attention(queries, keys, values):
    B, H, T, d = queries.shape
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    state = values.new_zeros(B, H, d, d)
    norm = k.sum(2)
    outputs = []
    for t in range(T):
        state = state + k[:, :, t, :, None] * values[:, :, t, None, :]
        top = (q[:, :, t, None] @ state)[:, :, 0]
        bottom = (q[:, :, t] * norm).sum(-1, keepdim=True)
        outputs.append(top / bottom)
    return torch.stack(outputs, dim=2)
