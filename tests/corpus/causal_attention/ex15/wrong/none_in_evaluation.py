# wrong: no return in evaluation
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if training:
        mask = (torch.rand_like(attn_weights) >= p).float()
        return attn_weights * mask / (1 - p)
