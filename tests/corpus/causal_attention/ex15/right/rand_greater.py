# right: torch.rand(shape) > p, float mask
def inverted_dropout(attn_weights, p, training):
    if training is False:
        return attn_weights.clone()
    mask = (torch.rand(attn_weights.shape, device=attn_weights.device) > p).float()
    return mask * attn_weights / (1.0 - p)
