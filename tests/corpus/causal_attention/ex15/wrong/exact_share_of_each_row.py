# wrong: as many entries of each row are dropped
# named: an exact share dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights.clone()
    count = int(p * attn_weights.shape[-1])
    gone = torch.rand_like(attn_weights).argsort(dim=-1)[..., :count]
    mask = torch.ones_like(attn_weights).scatter(-1, gone, 0.0)
    return attn_weights * mask / (1 - p)
