# wrong: always the same number of entries is dropped
# named: an exact share dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights.clone()
    n = attn_weights.numel()
    kept = torch.ones(n, dtype=attn_weights.dtype, device=attn_weights.device)
    kept[torch.randperm(n)[: round(p * n)]] = 0
    return attn_weights * kept.reshape(attn_weights.shape) / (1 - p)
