# right: one word after the other
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], device=x.device)
    rows = []
    for place, position in enumerate(positions.tolist()):
        word = x[..., place, :].float()
        c, s = torch.cos(position * rates), torch.sin(position * rates)
        a, b = word[..., ::2], word[..., 1::2]
        rows.append(torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2))
    return torch.stack(rows, dim=-2).to(x.dtype)
