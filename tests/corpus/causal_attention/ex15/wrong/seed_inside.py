# wrong: a seed is set inside, so each call drops the same entries
# named: same entries in each call
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights.clone()
    torch.manual_seed(42)
    mask = (torch.rand_like(attn_weights) > p).to(attn_weights.dtype)
    return attn_weights * mask / (1 - p)
