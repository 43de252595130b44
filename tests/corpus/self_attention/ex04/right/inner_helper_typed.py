# right: an inner helper with type hints and asserts
def attention_weights(all_attention_scores: list) -> list:
    def one(scores: list) -> torch.Tensor:
        shifted = [float(s) - float(max(scores)) for s in scores]
        e = torch.exp(torch.tensor(shifted))
        return e / e.sum()

    weights: list = [one(scores) for scores in all_attention_scores]
    for w in weights:
        assert abs(float(w.sum()) - 1) < 1e-4
    return weights
