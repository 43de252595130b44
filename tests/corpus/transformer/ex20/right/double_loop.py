# right: two loops over plain numbers
def sinusoidal_positions(length, d_model, base=10000.0):
    rows = []
    for t in range(length):
        row = []
        for i in range(d_model // 2):
            angle = t / base ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)
