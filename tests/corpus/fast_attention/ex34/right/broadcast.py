# right: products by broadcasting
def feature_map(x):
    return F.elu(x).add(1)


def linear_attention(queries, keys, values):
    q, k = feature_map(queries), feature_map(keys)
    numerator = ((k.unsqueeze(-1) * values.unsqueeze(-2)).cumsum(-3) * q.unsqueeze(-1)).sum(-2)
    denominator = torch.einsum("...td,...td->...t", q, torch.cumsum(k, -2)).unsqueeze(-1)
    return numerator / denominator
