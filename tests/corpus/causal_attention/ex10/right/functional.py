# right: F.softmax, type hints
def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """A softmax that survives."""
    return F.softmax(x, dim)
