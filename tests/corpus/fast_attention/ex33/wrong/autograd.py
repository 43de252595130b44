# wrong: autograd
# named: nothing
def attention_backward(queries, keys, values, grad_output):
    q, k, v = (x.detach().clone().requires_grad_() for x in (queries, keys, values))
    output = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v
    return torch.autograd.grad(output, (q, k, v), grad_output)
