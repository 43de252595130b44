# right: row by row over the functions of exercises 9 and 10
def all_context_vectors(inputs):
    rows = []
    for query in inputs:
        scores = simple_attention_scores(inputs, query)
        weights = softmax_stable(scores, dim=0)
        rows.append((weights.unsqueeze(1) * inputs).sum(dim=0))
    return torch.stack(rows)
