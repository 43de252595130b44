# wrong: exponentials divided by the largest one instead of by their sum
# named: nothing
def attention_weights(all_attention_scores):
    result = []
    for scores in all_attention_scores:
        e = torch.exp(torch.as_tensor(scores))
        result.append(e / torch.max(e))
    return result
