# right: float64 inside, cast back
def all_context_vectors(inputs):
    x = inputs.to(torch.float64)
    s = x @ x.mT
    w = (s - s.logsumexp(dim=-1, keepdim=True)).exp()
    return (w @ x).to(inputs.dtype)
