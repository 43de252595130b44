# wrong: sums over all words
# named: not causal
def linear_attention(queries, keys, values):
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    return q @ (k.mT @ values) / (q @ k.sum(2, keepdim=True).mT)
