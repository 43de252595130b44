# wrong: every weight is multiplied by a random number between 0 and 1, none becomes zero
# named: noise instead of a mask
def inverted_dropout(attn_weights, p, training):
    if training:
        attn_weights = attn_weights * torch.rand(attn_weights.shape, device=attn_weights.device)
    return attn_weights
