# right: an own helper function for one head, torch.softmax
def one_head(X, W_v, W_q, W_k, b_v, b_q, b_k):
    values = torch.matmul(W_v, X) + b_v
    queries = torch.matmul(W_q, X) + b_q
    keys = torch.matmul(W_k, X) + b_k
    head_size = keys.shape[0]
    weights = torch.softmax(torch.matmul(keys.T, queries) / head_size**0.5, dim=0)
    return torch.matmul(values, weights)


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    heads = []
    heads.append(one_head(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1))
    heads.append(one_head(X, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2))
    return W_c @ torch.cat(heads)
