# wrong: two mistakes, scaled by the root of d and returned as a column
# named: scaled by √d
def simple_attention_scores(inputs, query):
    return torch.mm(inputs, query[:, None]) / query.numel() ** 0.5
