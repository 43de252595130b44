# wrong: softmin, the smallest score gets the largest weight
# named: sign flipped
def attention_weights(all_attention_scores):
    soft = torch.nn.Softmin(dim=0)
    result = []
    for scores in all_attention_scores:
        result.append(soft(torch.as_tensor(scores)))
    return result
