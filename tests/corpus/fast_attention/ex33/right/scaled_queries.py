# right: scaled queries, with no_grad and a helper
def softmax_backward(P, dP):
    return P * (dP - torch.sum(dP * P, dim=-1, keepdim=True))


def attention_backward(queries, keys, values, grad_output):
    """The backward pass of attention, without autograd."""
    with torch.no_grad():
        root = math.sqrt(queries.shape[-1])
        q = queries / root
        P = torch.softmax(torch.matmul(q, keys.transpose(2, 3)), dim=3)
        grad_values = torch.matmul(P.transpose(2, 3), grad_output)
        dS = softmax_backward(P, torch.matmul(grad_output, values.transpose(2, 3)))
        grad_queries = torch.matmul(dS, keys).div(root)
        grad_keys = torch.matmul(dS.transpose(2, 3), q)
    return grad_queries, grad_keys, grad_values
