# wrong: scores over their sum, no exponential
# named: without the exponential
def attention_weights(all_attention_scores):
    out = []
    for scores in all_attention_scores:
        s = torch.as_tensor(scores)
        out.append(s / s.sum())
    return out
