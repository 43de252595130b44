# wrong: the state is updated after it is read
# named: own key hidden
def linear_attention(queries, keys, values):
    B, H, T, d = queries.shape
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    state, norm = values.new_zeros(B, H, d, d), values.new_zeros(B, H, d)
    outputs = []
    for t in range(T):
        outputs.append((q[:, :, t, None] @ state)[:, :, 0] / (q[:, :, t] * norm).sum(-1, keepdim=True))
        state = state + k[:, :, t, :, None] * values[:, :, t, None, :]
        norm = norm + k[:, :, t]
    return torch.stack(outputs, dim=2)
