# right: torch.where and an empty tensor filled by bernoulli_
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = torch.empty_like(attn_weights).bernoulli_(1 - p).bool()
    return torch.where(keep, attn_weights / (1 - p), torch.zeros_like(attn_weights))
