# right: own weights, exercise 5 for the sums, prints on the way
def self_attention(all_queries, all_keys, all_values):
    """Complete self attention."""
    sqrt_d = torch.sqrt(torch.tensor(all_queries[0].shape[0], dtype=torch.float32))
    weights = []
    for i, q in enumerate(all_queries):
        s = torch.tensor([(q.T @ k).item() for k in all_keys]) / sqrt_d
        s = s - s.max()
        w = s.exp() / s.exp().sum()
        print("word", i, "looks at", w.tolist())
        weights.append(w)
    return weighted_sums(weights, all_values)
