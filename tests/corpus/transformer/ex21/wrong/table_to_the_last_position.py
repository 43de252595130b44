# wrong: a table that ends with the last position, which need not be the largest
# named: nothing
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    longest = int(positions[-1]) + 1
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    table = torch.arange(longest, device=x.device)[:, None].float() * rates
    cos, sin = table.cos()[positions], table.sin()[positions]
    a, b = x[..., 0::2].float(), x[..., 1::2].float()
    out = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return out.flatten(-2).to(x.dtype)
