# wrong: survivors are scaled so that each row keeps its sum, not by 1/(1-p)
# named: rows renormalised
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    before = attn_weights.sum(dim=-1, keepdim=True)
    left = attn_weights * (torch.rand_like(attn_weights) >= p)
    after = left.sum(dim=-1, keepdim=True)
    return left * before / after.clamp(min=1e-8)
