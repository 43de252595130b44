# right: starts from the first product and adds the rest, typed, prints
from typing import List


def weighted_sums(all_attention_weights: List[torch.Tensor], all_values: List[torch.Tensor]) -> List[torch.Tensor]:
    """Keep what matters, drown what does not."""
    outputs: List[torch.Tensor] = []
    for q, weights in enumerate(all_attention_weights):
        out = all_values[0].clone()
        out *= weights[0]
        for w, v in zip(weights[1:], all_values[1:]):
            out.add_(v, alpha=float(w))
        print("output", q, out.flatten())
        outputs.append(out)
    return outputs
