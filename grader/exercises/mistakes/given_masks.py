"""Mistakes with a mask that comes as an argument, and with the softmax after it: exercise 19."""

from __future__ import annotations

import textwrap
from functools import partial

import grader
from grader import Misconception, Needs, at

from .attention import HIDDEN_BY_A_NUMBER

wrong = partial(
    grader.wrong,
    needs=Needs("scale given hide normalize", "mask scores weights"),
)

LATER_HIDDEN = "later = torch.ones_like(scores[0, 0]).triu(1) == 1\nscores = scores.masked_fill(later, -math.inf)"


def softmax_over(name: str, axis: str, dim: int) -> Misconception:
    """Softmax over this dimension. If all its scores are hidden, −∞ gives NaN, but a large negative number does not."""
    lines = {"normalize": f"weights = torch.softmax(scores, dim={dim})"}
    says = f"Your weights are normalized over {axis} (dim={dim} of the scores). Normalize over the keys: dim=3."
    return wrong(f"softmax over {name}", [{"hide": ("-math.inf", "-1e20"), **lines}, lines], says, kind="axis")


# fmt: off
MISTAKES = [
    wrong("mask without effect", {"given": ""},
          "Your result does not depend on the mask. Where it is 0, set the scores to −∞ before softmax.",
          kind="missing step"),
    wrong("mask inverted", {"hide": ("== 0", "!= 0")},
          "Your results hide what should be seen. Hide keys where mask == 0.", kind="mix-up"),
    wrong("masked after softmax",
          {"given": "", "after normalize": "if mask is not None:\n    weights = weights.masked_fill(mask == 0, 0)"},
          "Your results look as if hidden weights had been set to zero after softmax, so weights no longer sum to one. "
          "Mask the scores before softmax.", kind="missing step"),
    wrong("−∞ after softmax",
          {"given": "",
           "after normalize": "if mask is not None:\n    weights = weights.masked_fill(mask == 0, -1e20)"},
          "Your results look as if hidden weights had been filled with −1e20 after softmax. Fill the scores, before "
          "softmax.", kind="mix-up"),
    HIDDEN_BY_A_NUMBER,
    *at("hide",
        wrong("zeros for −∞", ("-math.inf", "0"),
              "In your results, hidden scores count as 0, or nearly 0, and softmax turns each into exp(0) = 1. "
              "Set them to −∞."),
        wrong("−1 for −∞", [("-math.inf", "-1 / math.sqrt(self.head_dim)"), ("-math.inf", "-1")],
              "In your results, hidden scores count as −1, so softmax still sees them. Set them to −∞."),
        wrong("+∞ for −∞", ("-math.inf", "1e20"),
              "In your results, hidden scores count as a large number, so nothing else is seen. Set them to −∞."),
        wrong("NaN or ∞ where hidden",
              [("-math.inf", "math.inf"),
               {"given": "",
                "after normalize": "if mask is not None:\n    weights = weights.masked_fill(mask == 0, -math.inf)"}],
              "Your results are NaN or infinite where something is hidden, as with +∞ in the scores or −∞ in the "
              "weights. Set hidden scores to −∞ before softmax."),
        wrong("queries hidden", "scores = scores.masked_fill(mask.transpose(2, 3) == 0, -1e20)",
              "Queries are hidden in your results. The last dimension of the mask belongs to the keys: (N, 1, 1, "
              "S) or (N, 1, T, S).", kind="axis"),
        wrong("mask added to the scores",
              ["scores = scores + (mask != 0) / math.sqrt(self.head_dim)",
               "scores = scores + (mask != 0)"],
              "Your results look as if the mask had been added to the scores. Set the scores to −∞ where the mask is "
              "0."),
        wrong("mask on the first head only",
              "scores = torch.cat([scores[:, :1].masked_fill(mask[:, :1] == 0, -math.inf), scores[:, 1:]], dim=1)",
              "In your results, only the first head is masked. Use the same mask for all of them.",
              kind="missing step"),
        wrong("first head's mask for all", ("mask ==", "mask[:, :1] =="),
              "In your results, all heads have the mask of the first. There may be a different one for each: (N, "
              "heads, T, S).", kind="mix-up"),
        wrong("first sentence's mask for all", ("mask ==", "mask[:1] =="),
              "In your results, all sentences of the batch have the mask of the first. Use the mask of each sentence.",
              kind="mix-up")),
    wrong("causal mask added",
          {"after scale": LATER_HIDDEN},
          "In your results, later words are hidden in addition to the mask. Hide nothing except where mask == 0.",
          kind="mix-up"),
    wrong("causal mask always, never the given one",
          {"after scale": LATER_HIDDEN,
           "given": ""},
          "In your results, later words are hidden, and the mask has no effect. Hide keys where mask == 0, and nothing "
          "else.", kind="mix-up"),
    wrong("causal mask for the given one",
          {"hide": LATER_HIDDEN},
          "When there is a mask, later words are hidden instead. Hide keys where mask == 0, and nothing else.",
          kind="mix-up"),
    wrong("causal without a mask",
          {"before given": "if mask is None:\n" + textwrap.indent(LATER_HIDDEN, "    ")},
          "In your results, later words are hidden when there is no mask. Hide nothing then.", kind="mix-up"),
    softmax_over("queries", "the queries", 2),
    softmax_over("heads", "the heads", 1),
    softmax_over("the batch", "the sentences of the batch", 0),
    wrong("raw scores as weights", {"hide": ("-math.inf", "0"), "normalize": "weights = scores"},
          "Your values are weighted by raw scores. The weights should be the softmax of the masked scores.",
          credit=0.25, kind="missing step"),
    wrong("raw scores as weights, with −1e20",
          {"hide": ("-math.inf", "-1e20 / math.sqrt(self.head_dim)"), "normalize": "weights = scores"},
          "Your values are weighted by raw scores, and the hidden ones are huge. The weights should be the softmax of "
          "the scores.", credit=0.25, kind="missing step"),
]
# fmt: on
