# wrong: the state is made of v kᵀ
# named: products transposed
def phi(x):
    return torch.nn.functional.elu(x) + 1.0

def linear_attention(queries, keys, values):
    B, H, T, d = queries.shape
    state = torch.zeros(B, H, d, d, dtype=queries.dtype, device=queries.device)
    norm = torch.zeros(B, H, d, dtype=queries.dtype, device=queries.device)
    outs = []
    for t in range(T):
        q, k, v = phi(queries[:, :, t]), phi(keys[:, :, t]), values[:, :, t]
        state = state + v.unsqueeze(-1) * k.unsqueeze(-2)
        norm = norm + k
        outs.append((q.unsqueeze(-2) @ state).squeeze(-2) / (q * norm).sum(-1, keepdim=True))
    return torch.stack(outs, dim=2)
