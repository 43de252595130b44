# right: the sum from the output
def attention_backward(queries, keys, values, grad_output):
    scale = queries.shape[-1] ** -0.5
    P = F.softmax(queries @ keys.mT * scale, dim=-1)
    output = P @ values
    delta = (grad_output * output).sum(-1, keepdim=True)
    dS = P * (grad_output @ values.mT - delta) * scale
    return dS @ keys, dS.mT @ queries, P.mT @ grad_output
