# right: one minus the indicator of the dropped, a helper beside
def dropped(shape, p, device):
    return (torch.rand(shape, device=device) < p).int()


def inverted_dropout(attn_weights, p, training):
    factor = 1.0
    if training:
        factor = (1 - dropped(attn_weights.size(), p, attn_weights.device)) / (1 - p)
    return attn_weights * factor
