# what: p is handed over as training
# pattern: arguments-exchanged
# causes: 1
# true: arguments in another order
# says: exchange|order
# false: drop everything|never drop|stay|−∞
def inverted_dropout(attn_weights, p, training):
    def one(row, rate, active):
        if not active:
            return row
        kept = torch.rand(row.shape) >= rate
        return row * kept / (1 - rate)

    return torch.stack([one(row, training, p) for row in attn_weights])  # <-
