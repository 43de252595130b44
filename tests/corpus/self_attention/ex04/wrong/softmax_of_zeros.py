# wrong: the softmax is taken of a tensor of zeros that is never filled, so all weights are equal
# named: uniform
def attention_weights(all_attention_scores):
    all_weights = []
    for row in all_attention_scores:
        scores = torch.zeros(len(row))
        for j, score in enumerate(row):
            scores_j = score
        all_weights.append(torch.softmax(scores, dim=0))
    return all_weights
