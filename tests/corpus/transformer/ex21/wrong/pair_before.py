# wrong: i − 1 in the exponent, where pairs are counted from 0
# named: exponent of the pair before
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    turned = torch.empty_like(x, dtype=torch.float32)
    for i in range(d // 2):
        theta = base ** (-2.0 * (i - 1) / d)
        angle = positions.to(torch.float64) * theta
        even, odd = x[..., 2 * i].float(), x[..., 2 * i + 1].float()
        turned[..., 2 * i] = even * angle.cos() - odd * angle.sin()
        turned[..., 2 * i + 1] = even * angle.sin() + odd * angle.cos()
    return turned.type_as(x)
