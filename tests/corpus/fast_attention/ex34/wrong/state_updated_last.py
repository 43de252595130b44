# wrong: the state gets the word after the output is read, the divisor before
# named: own word only in the divisor
def linear_attention(queries, keys, values):
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    B, H, T, d = q.shape
    state, total = q.new_zeros(B, H, d, d), q.new_zeros(B, H, d)
    outputs = []
    for t in range(T):
        total = total + k[:, :, t]
        mixed = (q[:, :, t, None] @ state).squeeze(2)
        outputs.append(mixed / (q[:, :, t] * total).sum(-1, keepdim=True))
        state = state + k[:, :, t, :, None] * values[:, :, t, None, :]
    return torch.stack(outputs, dim=2)
