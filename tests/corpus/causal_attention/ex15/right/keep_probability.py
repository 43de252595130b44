# right: keep probability as a name, in place on an own tensor
def inverted_dropout(attn_weights, p, training):
    keep_prob = 1.0 - p
    if training:
        out = attn_weights.clone()
        out[torch.rand(out.shape) >= keep_prob] = 0
        out = out / keep_prob
    else:
        out = attn_weights
    return out
