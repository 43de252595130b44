"""Mistakes with a mask that comes as an argument, and with the softmax after it: exercise 19."""

from __future__ import annotations

import textwrap

from grader import Misconception, at, wrong

LATER_HIDDEN = "later = torch.ones_like(scores[0, 0]).triu(1) == 1\nscores = scores.masked_fill(later, -math.inf)"


def softmax_over(name: str, what: str, dim: int) -> list[Misconception]:
    """Softmax over this dimension. If all its scores are hidden, −∞ gives NaN, but a large negative number does not."""
    lines = {"normalise": f"weights = torch.softmax(scores, dim={dim})"}
    says = f"Your weights are normalised over {what} (dim={dim} of the scores). They must be over the keys: dim=3."
    return [
        wrong(f"softmax over {name}", {"hide": ("-math.inf", "-1e20"), **lines}, says, kind="axis"),
        wrong(f"softmax over {name}, with NaN", lines, says, kind="axis"),
    ]


# fmt: off
MISTAKES = [
    wrong("as without a mask", {"given": ""},
          "Your result does not depend on the mask. Where it is 0, the scores that softmax gets must be −∞.",
          kind="missing step"),
    wrong("mask inverted", {"hide": ("== 0", "!= 0")},
          "What should be seen is hidden in your results. Hide keys where mask == 0.", kind="mix-up"),
    wrong("masked after softmax",
          {"given": "", "after normalise": "if mask is not None:\n    weights = weights.masked_fill(mask == 0, 0)"},
          "Your results are those of softmax over all keys, with zeros put in afterwards, so weights no longer "
          "sum to one. Mask the scores before softmax.", kind="missing step"),
    wrong("−∞ after softmax",
          {"given": "",
           "after normalise": "if mask is not None:\n    weights = weights.masked_fill(mask == 0, -1e20)"},
          "Your results are those of hidden weights filled with −1e20 after softmax. Fill the scores, before it.",
          kind="mix-up"),
    *at("hide",
        wrong("zeros for −∞", ("-math.inf", "0"),
              "In your results, hidden scores count as 0, or nearly 0, and softmax turns each into exp(0) = 1. "
              "Set them to −∞."),
        wrong("−1 for −∞", ("-math.inf", "-1 / math.sqrt(self.head_dim)"),
              "Hidden scores count as −1 in your results, which softmax still sees. Set them to −∞."),
        wrong("−1 for −∞, after scaling", ("-math.inf", "-1"),
              "Hidden scores count as −1 in your results, which softmax still sees. Set them to −∞."),
        wrong("+∞ for −∞", ("-math.inf", "1e20"),
              "Hidden scores count as a large number in your results, so that nothing else is seen. Set them to −∞."),
        wrong("no numbers for what is hidden", ("-math.inf", "math.inf"),
              "Your results are NaN or infinite where something is hidden. Set hidden scores to −∞ before "
              "softmax: +∞ there, or −∞ in the weights, leaves no numbers.")),
    wrong("no numbers for what is hidden, after softmax",
          {"given": "",
           "after normalise": "if mask is not None:\n    weights = weights.masked_fill(mask == 0, -math.inf)"},
          "Your results are NaN or infinite where something is hidden. Set hidden scores to −∞ before softmax: "
          "+∞ there, or −∞ in the weights, leaves no numbers."),
    *at("hide",
        wrong("queries hidden", "scores = scores.masked_fill(mask.transpose(2, 3) == 0, -1e20)",
              "Queries are hidden in your results. The last dimension of the mask belongs to the keys: (N, 1, 1, "
              "S) or (N, 1, T, S).", kind="axis"),
        wrong("mask added to the scores", "scores = scores + (mask != 0) / math.sqrt(self.head_dim)",
              "Your results are those of the mask added to the scores. Set them to −∞ where it is 0."),
        wrong("mask added to the scores, after scaling", "scores = scores + (mask != 0)",
              "Your results are those of the mask added to the scores. Set them to −∞ where it is 0."),
        wrong("mask on the first head only",
              "scores = torch.cat([scores[:, :1].masked_fill(mask[:, :1] == 0, -math.inf), scores[:, 1:]], dim=1)",
              "Only the first head is masked in your results. The same mask is for all of them.", kind="missing step"),
        wrong("first head's mask for all", ("mask ==", "mask[:, :1] =="),
              "In your results, all heads have the mask of the first. There may be one for each: (N, heads, T, "
              "S).", kind="mix-up"),
        wrong("first sentence's mask for all", ("mask ==", "mask[:1] =="),
              "In your results, all sentences of the batch have the mask of the first. Each should have its own.",
              kind="mix-up")),
    wrong("causal mask added",
          {"after scale": LATER_HIDDEN},
          "Later words are hidden on top of the mask in your results. Here nothing should be hidden except where "
          "mask == 0.", kind="mix-up"),
    wrong("causal mask always, never the given one",
          {"after scale": LATER_HIDDEN,
           "given": ""},
          "Later words are hidden in your results, and the mask has no part in them. Hide keys where mask == 0, "
          "and nothing else.", kind="mix-up"),
    wrong("causal mask for the given one",
          {"hide": LATER_HIDDEN},
          "When there is a mask, later words are hidden instead. Hide keys where mask == 0, and nothing else.",
          kind="mix-up"),
    wrong("causal without a mask",
          {"before given": "if mask is None:\n" + textwrap.indent(LATER_HIDDEN, "    ")},
          "In your results, later words are hidden when there is no mask. Then nothing should be hidden.",
          kind="mix-up"),
    *softmax_over("queries", "the queries", 2),
    *softmax_over("heads", "the heads", 1),
    *softmax_over("the batch", "the sentences of the batch", 0),
    wrong("raw scores as weights", {"hide": ("-math.inf", "0"), "normalise": "weights = scores"},
          "Your values are weighted by raw scores. The weights are the softmax of the masked scores.",
          credit=0.25, kind="missing step"),
    wrong("raw scores as weights, with −1e20",
          {"hide": ("-math.inf", "-1e20 / math.sqrt(self.head_dim)"), "normalise": "weights = scores"},
          "Your values are weighted by raw scores, of which the hidden ones are huge. The weights are the "
          "softmax of them.", credit=0.25, kind="missing step"),
]
# fmt: on
