# right: uniform numbers compared with p
def inverted_dropout(attn_weights, p, training):
    if training:
        mask = (torch.rand_like(attn_weights) >= p).to(attn_weights.dtype)
        return attn_weights * mask * (1 / (1 - p))
    else:
        return attn_weights
