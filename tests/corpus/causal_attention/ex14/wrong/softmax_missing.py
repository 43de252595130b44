# wrong: causal_softmax: only the first function is written
# named: nothing
def mask_then_renormalize(attn_weights):
    w = torch.tril(attn_weights)
    return w / w.sum(dim=-1, keepdim=True)
