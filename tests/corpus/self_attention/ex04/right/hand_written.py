# right: exp and sum by hand in two loops, python floats, then a tensor
def attention_weights(all_attention_scores):
    weights = []
    for i in range(len(all_attention_scores)):
        exps = [math.exp(s) for s in all_attention_scores[i]]
        z = sum(exps)
        weights.append(torch.tensor([e / z for e in exps]))
    return weights
