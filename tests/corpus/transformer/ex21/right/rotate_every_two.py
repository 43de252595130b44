# right: repeated cosines, and a rotated copy
def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)

def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = torch.exp(-math.log(base) * torch.arange(0, d, 2, device=x.device) / d)
    angles = torch.einsum("t,i->ti", positions.to(torch.float32), rates).repeat_interleave(2, dim=-1)
    return x * angles.cos().to(x.dtype) + rotate_every_two(x) * angles.sin().to(x.dtype)
