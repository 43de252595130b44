# wrong: the mask is returned, not the weights
# named: the mask returned
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    return F.dropout(torch.ones_like(attn_weights), p)
