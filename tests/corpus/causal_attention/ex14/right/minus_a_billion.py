# right: -1e9 instead of minus infinity, own stable softmax, type hints
def causal_mask(T: int, device: torch.device) -> torch.Tensor:
    return torch.tril(torch.ones(T, T, device=device)) == 0


def mask_then_renormalize(attn_weights: torch.Tensor) -> torch.Tensor:
    """The first way."""
    w = attn_weights.masked_fill(causal_mask(attn_weights.shape[0], attn_weights.device), 0.0)
    return w / w.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores: torch.Tensor, d_k: int) -> torch.Tensor:
    """The second way."""
    s = attn_scores.masked_fill(causal_mask(attn_scores.shape[0], attn_scores.device), -1e9)
    return softmax_stable(s / math.sqrt(d_k), dim=-1)
