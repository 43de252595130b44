# wrong: i − 1 in the exponent, and a row times the matrix that is made for a column
# named: exponent of the pair before + turned backwards
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    matrices = torch.zeros(len(positions), d, d)
    for row, position in enumerate(positions.tolist()):
        for i in range(d // 2):
            angle = position * base ** (-2.0 * (i - 1) / d)
            matrices[row, 2 * i, 2 * i] = math.cos(angle)
            matrices[row, 2 * i, 2 * i + 1] = -math.sin(angle)
            matrices[row, 2 * i + 1, 2 * i] = math.sin(angle)
            matrices[row, 2 * i + 1, 2 * i + 1] = math.cos(angle)
    return (x.float().unsqueeze(-2) @ matrices).squeeze(-2).to(x.dtype)
