# right: a 2 × 2 matrix for each pair
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    i = torch.arange(d // 2, device=x.device)
    angles = positions[:, None].float() * base ** (-2 * i / d)
    c, s = torch.cos(angles), torch.sin(angles)
    turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    pairs = x.float().unflatten(-1, (-1, 2)).unsqueeze(-1)
    return (turn @ pairs).squeeze(-1).flatten(-2).to(x.dtype)
