# wrong: the first columns are dropped, a share of p of them, and no random number is drawn
# named: nothing left to chance
def inverted_dropout(attn_weights, p, training):
    if not training or p == 0:
        return attn_weights
    columns = attn_weights.shape[-1]
    kept = torch.arange(columns) >= round(p * columns)
    return attn_weights * kept / (1 - p)
