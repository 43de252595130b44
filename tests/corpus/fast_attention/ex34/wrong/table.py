# wrong: the table of weights
# named: nothing
def linear_attention(queries, keys, values):
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    weights = torch.tril(q @ k.transpose(-2, -1))
    return weights @ values / weights.sum(-1, keepdim=True)
