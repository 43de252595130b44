# wrong: a softmax of products of features
# named: softmax of φ(q)·φ(k)
def linear_attention(queries, keys, values):
    q, k = F.elu(queries) + 1, F.elu(keys) + 1
    a = (q @ k.mT).masked_fill(torch.ones(q.shape[2], q.shape[2]).triu(1).bool(), -math.inf)
    return a.softmax(-1) @ values
