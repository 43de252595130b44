# right: einsum, type hints
def simple_attention_scores(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """One score for each word."""
    return torch.einsum("td,d->t", inputs, query)
