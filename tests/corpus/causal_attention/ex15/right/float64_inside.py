# right: flattened and in float64 inside, viewed back
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    flat = attn_weights.flatten().double()
    keep = torch.rand(flat.shape, dtype=torch.float64, device=flat.device).ge(p)
    return (flat * keep / (1 - p)).view(attn_weights.shape).to(attn_weights.dtype)
