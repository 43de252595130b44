# wrong: evaluation is scaled by 1/(1-p) too
# named: enlarged in evaluation
def inverted_dropout(attn_weights, p, training):
    out = attn_weights
    if training:
        out = out * (torch.rand_like(out) >= p)
    return out / (1 - p)
