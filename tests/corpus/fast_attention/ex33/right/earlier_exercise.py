# right: the output and the logsumexp of exercise 32, and its weights made again
def attention_backward(queries, keys, values, grad_output):
    output, lse = tiled_attention(queries, keys, values, block_size=4)
    scale = 1 / math.sqrt(queries.shape[-1])
    P = torch.exp(queries @ keys.mT * scale - lse[..., None])
    D = torch.linalg.vecdot(grad_output, output).unsqueeze(-1)
    dS = torch.addcmul(-D * P, P, grad_output @ values.mT) * scale
    return dS @ keys, dS.mT @ queries, P.mT @ grad_output
