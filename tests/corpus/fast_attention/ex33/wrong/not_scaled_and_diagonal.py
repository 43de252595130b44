# wrong: P dP, and not scaled
# named: weights differentiated one by one + gradients not scaled
def attention_backward(queries, keys, values, grad_output):
    T, d = queries.shape[-2:]
    P = torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(d), dim=-1)
    dV = P.transpose(-2, -1) @ grad_output
    dP = grad_output @ values.transpose(-2, -1)
    dS = P * dP
    dQ = dS @ keys
    dK = dS.transpose(-2, -1) @ queries
    return dQ, dK, dV
