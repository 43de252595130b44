# right: a result filled by slices
def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    exponents = torch.arange(half, device=x.device, dtype=torch.float64) / half
    angles = positions.double().unsqueeze(-1) / base**exponents
    out = torch.empty_like(x)
    out[..., ::2] = x[..., ::2] * angles.cos() - x[..., 1::2] * angles.sin()
    out[..., 1::2] = x[..., ::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return out
