# wrong: feature map of scores
# named: feature map of scores
def linear_attention(queries, keys, values):
    weights = torch.tril(F.elu(queries @ keys.mT) + 1)
    return weights @ values / weights.sum(-1, keepdim=True)
