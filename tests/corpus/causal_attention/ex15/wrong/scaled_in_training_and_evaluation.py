# wrong: survivors are scaled in training, and in evaluation the weights are multiplied by 1 - p as well
# named: scaled in evaluation
def inverted_dropout(attn_weights, p, training):
    keep_prob = 1.0 - p
    if not training:
        return attn_weights * keep_prob
    mask = torch.rand(attn_weights.shape, device=attn_weights.device) < keep_prob
    return torch.where(mask, attn_weights / keep_prob, 0.0)
