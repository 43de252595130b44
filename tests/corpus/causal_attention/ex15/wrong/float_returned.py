# wrong: returned in float32, whatever came
# named: not the input's dtype
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights.clone().float()
    return (attn_weights * (torch.rand_like(attn_weights) >= p) / (1 - p)).float()
