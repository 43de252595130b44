# wrong: the weights are overwritten by the gradients of the scores, and used once more
# named: gradients of scores for values
def attention_backward(queries, keys, values, grad_output):
    scale = queries.shape[-1] ** -0.5
    P = torch.softmax(queries @ keys.transpose(-2, -1) * scale, dim=-1)
    dP = grad_output @ values.transpose(-2, -1)
    P *= dP - (P * dP).sum(dim=-1, keepdim=True)
    grad_queries = P @ keys * scale
    grad_keys = P.transpose(-2, -1) @ queries * scale
    grad_values = P.transpose(-2, -1) @ grad_output
    return grad_queries, grad_keys, grad_values
