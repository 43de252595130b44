# right: halves joined, then put in order by an index
def sinusoidal_positions(length, d_model, base=10000.0):
    half = d_model // 2
    angles = torch.arange(length).unsqueeze(-1) / torch.tensor([base ** (2 * i / d_model) for i in range(half)])
    both = torch.cat([angles.sin(), angles.cos()], dim=-1)
    order = torch.tensor([i // 2 + (i % 2) * half for i in range(d_model)])
    return both[:, order]
