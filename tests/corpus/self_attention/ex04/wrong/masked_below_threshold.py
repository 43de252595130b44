# wrong: small weights are set to zero "because they do not matter"
# named: nothing
def attention_weights(all_attention_scores):
    result = []
    for s in all_attention_scores:
        w = softmax(s)
        result.append(torch.where(w < 0.05, torch.zeros_like(w), w))
    return result
