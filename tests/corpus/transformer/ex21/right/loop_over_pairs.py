# right: one pair after the other
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    columns = []
    for i in range(d // 2):
        angle = positions.to(torch.float32) * base ** (-2 * i / d)
        a, b = x[..., 2 * i].float(), x[..., 2 * i + 1].float()
        columns.append(a * torch.cos(angle) - b * torch.sin(angle))
        columns.append(a * torch.sin(angle) + b * torch.cos(angle))
    return torch.stack(columns, dim=-1).to(x.dtype)
