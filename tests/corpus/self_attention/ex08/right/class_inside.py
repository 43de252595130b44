# right: a class for a head, star arguments, type hints
from dataclasses import dataclass

from torch import Tensor


@dataclass
class Head:
    W_v: Tensor
    W_q: Tensor
    W_k: Tensor
    b_v: Tensor
    b_q: Tensor
    b_k: Tensor

    def __call__(self, X: Tensor) -> Tensor:
        v, q, k = self.W_v @ X + self.b_v, self.W_q @ X + self.b_q, self.W_k @ X + self.b_k
        scores = k.t() @ (q / math.sqrt(len(q)))
        return v @ multi_head_softmax_cols(scores)


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    heads = Head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1), Head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ torch.cat([head(X) for head in heads], dim=0)
