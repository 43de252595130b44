# right: dropped entries are filled with zero, type hints
def inverted_dropout(attn_weights: torch.Tensor, p: float, training: bool) -> torch.Tensor:
    """Survivors are scaled, so that the expectation stays."""
    if not training or p == 0:
        return attn_weights
    dropped = torch.rand_like(attn_weights) < p
    return (attn_weights / (1 - p)).masked_fill(dropped, 0.0)
