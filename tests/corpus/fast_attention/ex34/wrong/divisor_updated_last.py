# wrong: the divisor gets the word after the output is read, the state before
# named: own word not in the divisor
def linear_attention(queries, keys, values):
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    B, H, T, d = q.shape
    state, total = q.new_zeros(B, H, d, d), q.new_zeros(B, H, d)
    outputs = []
    for t in range(T):
        state = state + k[:, :, t, :, None] * values[:, :, t, None, :]
        mixed = (q[:, :, t, None] @ state).squeeze(2)
        outputs.append(mixed / (q[:, :, t] * total).sum(-1, keepdim=True))
        total = total + k[:, :, t]
    return torch.stack(outputs, dim=2)
