# wrong: the queries of whoever calls are scaled
# named: nothing
def attention_backward(queries, keys, values, grad_output):
    d = queries.shape[-1]
    queries *= d**-0.5
    weights = torch.softmax(queries @ keys.mT, -1)
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - (grad_weights * weights).sum(-1, keepdim=True))
    return grad_scores @ keys * d**-0.5, grad_scores.mT @ queries, weights.mT @ grad_output
