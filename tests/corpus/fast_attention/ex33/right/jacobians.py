# right: a Jacobian of softmax for each row
def attention_backward(queries, keys, values, grad_output):
    d = queries.shape[-1]
    P = torch.softmax(queries @ keys.mT / d**0.5, -1)
    J = torch.diag_embed(P) - P[..., :, None] * P[..., None, :]  # (B, H, T, T, T)
    dP = grad_output @ values.mT
    dS = (dP[..., None, :] @ J)[..., 0, :] / d**0.5
    return dS @ keys, dS.mT @ queries, P.mT @ grad_output
