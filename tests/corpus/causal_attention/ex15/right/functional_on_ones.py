# right: F.dropout on ones gives the factors
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights * 1
    factors = F.dropout(torch.ones_like(attn_weights), p)
    return attn_weights * factors
