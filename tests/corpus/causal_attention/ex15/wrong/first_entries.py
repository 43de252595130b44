# wrong: a fixed share at the beginning is dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.ones(attn_weights.numel())
    mask[: int(p * attn_weights.numel())] = 0
    return attn_weights * mask.view(attn_weights.shape) / (1 - p)
