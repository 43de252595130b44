# wrong: autograd, out of inference mode
# named: nothing
def attention_backward(queries, keys, values, grad_output):
    with torch.inference_mode(False), torch.enable_grad():
        q, k, v, g = (x.clone() for x in (queries, keys, values, grad_output))
        for x in (q, k, v):
            x.requires_grad_()
        (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v).backward(g)
        return q.grad, k.grad, v.grad
