# right: float64 inside, cast back, with type hints
from typing import List, Tuple


def compute_qkv(
    all_x: List[torch.Tensor],
    W_q: torch.Tensor,
    W_k: torch.Tensor,
    W_v: torch.Tensor,
    b_q: torch.Tensor,
    b_k: torch.Tensor,
    b_v: torch.Tensor,
) -> Tuple[List[torch.Tensor], List[torch.Tensor], List[torch.Tensor]]:
    """Three affine maps of every input."""

    def affine(W: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return (b.double() + W.double() @ x.double()).to(x.dtype)

    queries = [affine(W_q, b_q, x) for x in all_x]
    keys = [affine(W_k, b_k, x) for x in all_x]
    values = [affine(W_v, b_v, x) for x in all_x]
    return queries, keys, values
