"""Mistakes in modules of attention, for solutions with the same marks and variables."""

from __future__ import annotations

from functools import partial

import grader
from grader import Misconception, Needs, at

from . import any_module

# In `__init__`, the marks are projections, and rate, size and buffer of the mask. The mask is true where it hides.
wrong = partial(
    grader.wrong,
    needs=Needs(
        marks="query key value scores scale crop hide normalize drop mix result projections rate size buffer",
        variables="x q k v scores mask weights context",
    ),
)

# fmt: off


VALUES_DETACHED = wrong(
    "values detached", {"after value": "v = v.detach()"},
    "No gradient reaches W_value. Compute the values without detach and .data.", kind="gradient")
WEIGHTS_DETACHED = wrong(
    "weights detached", {"after query": "q = q.detach()", "after key": "k = k.detach()"},
    "No gradient reaches W_query and W_key. Compute scores and weights without detach and .data.", kind="gradient")


def of_one_head(query: str, key: str, value: str) -> list[Misconception]:
    """In scaling, roles and gradients: exercises 12, 13 and 16. The arguments are the expressions for q, k and v."""
    return [
        *at("scale",
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide them by √d_out: keys have d_out entries.",
                  kind="scaling"),
            wrong("scaled by √d_in", "scores = scores / math.sqrt(x.shape[-1])",
                  "The scores that you use are divided by √d_in. Keys have d_out entries, so divide by the root of "
                  "that, keys.shape[-1] ** 0.5.", credit=0.75, kind="scaling"),
            wrong("scaled by √T", "scores = scores / math.sqrt(x.shape[-2])",
                  "The scores that you use are divided by the root of the number of words. Divide them by √d_out: keys "
                  "have d_out entries.", kind="scaling"),
            wrong("divided by T", "scores = scores / x.shape[-2]",
                  "The scores that you use are divided by the number of words. Divide them by √d_out: keys have d_out "
                  "entries.", kind="scaling"),
            wrong("divided by d_out", "scores = scores / k.shape[-1]",
                  "The scores that you use are divided by d_out. Divide by its square root.", kind="scaling"),
            wrong("divided by √2", "scores = scores / math.sqrt(2)",
                  "Your scores are divided by √2, whatever d_out is. That is right only if d_out is 2. Take it from "
                  "keys.shape[-1].", kind="hard-coded"),
            wrong("multiplied by √d_out", "scores = scores * math.sqrt(k.shape[-1])",
                  "The scores that you use are multiplied by √d_out. Divide them by it.", kind="scaling"),
            wrong("sign flipped", "scores = -scores / math.sqrt(k.shape[-1])",
                  "The scores have the wrong sign: a query should look most where its dot product is largest.")),
        wrong("queries and keys exchanged", {"scores": "scores = k @ q.transpose(-2, -1)"},
              "Queries and keys are swapped in your results. Row i of the scores should compare query i with every "
              "key.", kind="mix-up"),
        *at("value",
            wrong("keys as values", f"v = {key}",
                  "Your results are weighted sums of the keys. Apply the weights to the values, which come from "
                  "W_value.", kind="mix-up"),
            wrong("queries as values", f"v = {query}",
                  "Your results are weighted sums of the queries. Apply the weights to the values, which come from "
                  "W_value.", kind="mix-up")),
        wrong("queries as keys", {"key": f"k = {query}"},
              "Your results look as if queries were compared with queries. Compare them with the keys, which come from "
              "W_key.", kind="mix-up"),
        wrong("keys and values exchanged", {"key": f"k = {value}", "value": f"v = {key}"},
              "W_key and W_value are swapped in your results. Queries are compared with keys, and values are mixed.",
              kind="mix-up"),
        wrong("weights returned", {"mix": "context = weights"},
              "Your results are the attention weights. Multiply them by the values.", credit=0.25, kind="missing step"),
        *at("result",
            wrong("result transposed", "return context.transpose(-2, -1)",
                  "Your result is transposed. Words are rows: the result has shape (…, T, d_out).",
                  kind="convention"),
            wrong("everything detached", "return context.detach()",
                  "No gradient gets through, as when the computation uses no_grad, detach or the like. Compute "
                  "the result from the weights, with operations that keep gradients.", kind="gradient")),
        VALUES_DETACHED,
        WEIGHTS_DETACHED,
        *at("scale",
            wrong("divided by √8", "scores = scores / math.sqrt(8)",
                  "Your scores are divided by √8, whatever the sizes are. Take the size of a key from keys.shape[-1].",
                  kind="hard-coded"),
            wrong("half the length", "scores = scores / (k.shape[-1] ** 1 / 2)",
                  "The scores that you use are divided by half the size of a key. Divide by the root of the size, ** "
                  "0.5.",
                  in_code=("_ ** 1 / 2",),
                  says_of_code="** 1 / 2 is (… ** 1) / 2, so you divide by half the size of a key. Write ** 0.5."),
            wrong("divided twice by half", "scores = scores / k.shape[-1] ** 1 / 2",
                  "The scores that you use are divided by the size of a key, and by 2. Divide by the root of the size, "
                  "** 0.5.", in_code=("_ / _ ** 1 / 2",),
                  says_of_code="/ … ** 1 / 2 divides by (… ** 1), and then by 2. Write ** 0.5.")),
        wrong("scaled in the wrong place", {"scale": "", "mix": "context = weights @ v / math.sqrt(v.shape[-1])"},
              "In your results, √d_out divides the outputs, and not the scores. Scale the scores, before softmax.",
              kind="scaling"),
        wrong("keys as queries", {"query": f"q = {key}"},
              "Your results look as if keys were compared with keys. The queries come from W_query.", kind="mix-up"),
        wrong("queries in all roles", {"key": f"k = {query}", "value": f"v = {query}"},
              "Your results look as if keys and values came from W_query, too. Keys come from W_key, values from "
              "W_value.", kind="mix-up"),
        wrong("values not projected", {"after value": "v = x"},
              "Your results are weighted sums of the inputs themselves. Apply the weights to the values, which come "
              "from W_value.", kind="missing step"),
    ]


def of_split_heads(before: str, merged: str, returned: str = "{}") -> list[Misconception]:
    """In modules that split one projection: exercises 18, 19 and 29. Weights are changed at the place `before`, heads
    (B, H, T, d) are transposed and `merged`, and `returned` is the form of the result."""
    return [
        *at("scale",
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide them by √head_dim: the keys of one head have "
                  "head_dim entries.", kind="scaling"),
            wrong("divided by head_dim", "scores = scores / self.head_dim",
                  "Your scores are divided by head_dim, or twice by its root. Divide them by √head_dim once.",
                  kind="scaling"),
            wrong("divided by head_dim and 2", "scores = scores / self.head_dim ** 1 / 2",
                  "The scores that you use are divided by head_dim and by 2. Divide by the root of head_dim, ** 0.5.",
                  in_code=("_ / _ ** 1 / 2",),
                  says_of_code="/ … ** 1 / 2 divides by (… ** 1), and then by 2. Write ** 0.5."),
            wrong("divided by head_dim / 2", "scores = scores / (self.head_dim ** 1 / 2)",
                  "The scores that you use are divided by half of head_dim. Divide by the root of head_dim, ** 0.5.",
                  in_code=("_ ** 1 / 2",),
                  says_of_code="** 1 / 2 is (… ** 1) / 2, so you divide by half of head_dim. Write ** 0.5."),
            wrong("multiplied by √head_dim", "scores = scores * math.sqrt(self.head_dim)",
                  "The scores that you use are multiplied by √head_dim. Divide them by it.", kind="scaling")),
        wrong("scaled in the wrong place", {"scale": "", before: "weights = weights / math.sqrt(self.head_dim)"},
              "The scores that you use are not scaled; √head_dim divides only what comes after softmax. Divide the "
              "scores, before softmax.", kind="scaling"),
        wrong("sign flipped", {"scale": "scores = -scores / math.sqrt(self.head_dim)"},
              "The scores have the wrong sign: a query should look most where its dot product is largest."),
        wrong("heads in reverse order", {"merge": f"context = context.flip(1).transpose(1, 2).{merged}"},
              "The last head comes first. Merge the heads in their order.", credit=0.75, kind="arrangement"),
        *at(before,
            wrong("first head's weights for all", "weights = weights[:, :1].expand_as(weights)",
                  "In your results, all heads have the weights of the first. Each head should have its own.",
                  kind="mix-up"),
            wrong("weights averaged over heads", "weights = weights.mean(1, keepdim=True).expand_as(weights)",
                  "In your results, all heads have the mean of their weights. Each head should have its own.",
                  kind="mix-up")),
        *at("merge",
            wrong("first head only", "context = context[:, 0].repeat(1, 1, context.shape[1])",
                  "The output of the first head is in the place of every head. Merge all of them.", kind="mix-up"),
            wrong("heads averaged", "context = context.mean(1).repeat(1, 1, context.shape[1])",
                  "The mean of the heads is in the place of every head. Put the heads side by side.")),
        *at("normalize",
            wrong("softmax twice", "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
                  "Your results look as if softmax had been applied twice. The second one gives hidden words some "
                  "weight again. Apply it once."),
            wrong("exponentials not divided", "weights = torch.exp(scores)",
                  "Your values are weighted by exponentials that are not divided by their sum. The weights should be "
                  "the softmax.", kind="missing step"),
            wrong("sigmoid for softmax", "weights = torch.sigmoid(scores)",
                  "Your weights are the sigmoids of the scores, which do not sum to one. They should be the softmax "
                  "over the keys.")),
        wrong("first sentence's weights for all", {before: "weights = weights[:1].expand_as(weights)"},
              "In your results, all sentences of a batch have the weights of the first. Each sentence should have its "
              "own.", kind="mix-up"),
        *at("result",
            wrong("squeezed", f"return {returned.format('context.squeeze()')}",
                  "Your result has lost its dimensions of size 1, as with squeeze. Keep them: one sentence is a batch, "
                  "too.", credit=0.75, kind="arrangement"),
            wrong("everything detached", f"return {returned.format('context.detach()')}",
                  "No gradient gets through, as when the computation uses no_grad, detach or the like. Compute "
                  "the result from the weights, with operations that keep gradients.", kind="gradient")),
    ]


# Without a mask, where every word may look at every other: exercises 12 and 13.
UNMASKED = [
    wrong("dimensions compared", {"scores": "scores = q.T @ k", "mix": "context = v @ weights.T"},
          "Your results look as if scores compared dimensions, not words. Words are rows: queries @ keys.T has shape "
          "(T, T).", kind="convention"),
    *at("normalize",
        wrong("softmax twice", "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
              "Your results look as if softmax had been applied twice. Once is enough to make the weights of a query "
              "sum to one."),
        wrong("softmax over queries", "weights = torch.softmax(scores, dim=0)",
              "Your weights are normalized over the queries (dim=0 of the scores). Normalize over the keys: dim=-1.",
              kind="axis"),
        wrong("softmax over everything", "weights = torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)",
              "All your weights together sum to one. Each row must sum to one: dim=-1.", kind="axis"),
        wrong("raw scores as weights", "weights = scores",
              "Your values are weighted by raw scores. The weights should be the softmax of the scores.",
              credit=0.25, kind="missing step"),
        wrong("divided by the sum", "weights = scores / scores.sum(dim=-1, keepdim=True)",
              "Your weights are scores divided by their sum, as in exercise 9. They should be the softmax."),
        wrong("future hidden", "weights = torch.softmax(scores + torch.full_like(scores, -math.inf).triu(1), dim=-1)",
              "In your results, later words are hidden. That comes in exercise 14. Here, every word may look at every "
              "word.", kind="mix-up")),
    wrong("weights transposed", {"mix": "context = weights.T @ v"},
          "Your results look as if the weights were transposed. It should be weights @ values, with a row for every "
          "query.", kind="axis"),
    *at("result",
        wrong("first word only", "return context[0]",
              "You return the context vector of one word. Return one for every word: shape (T, d_out).",
              credit=0.25, kind="missing step"),
        wrong("words summed", "return context.sum(dim=0)",
              "Your result is the sum of the context vectors of all words. Return one for every word: shape (T, "
              "d_out).")),
]

# In the mask, and with sentences in a batch: exercises 16 and 18.
MASKED = [
    wrong("words and sentences exchanged",
          [{"before sizes": "x = x.transpose(0, 1)", "result": "return context.transpose(0, 1)"},
           {"before sizes": "x = x.transpose(0, 1)", "crop": "mask = torch.ones(T, T, device=x.device).triu(1) == 1",
            "result": "return context.transpose(0, 1)"}],
          "Your results look as if words looked at the words in the same place of other sentences. Texts have shape "
          "(B, T, d_in): the words of a sentence are along dimension 1.", kind="axis"),
    wrong("mask not cut to the text", {"crop": "mask = self.mask == 1"},
          "Texts shorter than context_length cause an error. Cut the mask to the text: mask[:T, :T].",
          kind="hard-coded"),
    wrong("weights transposed", {"mix": "context = weights.transpose(-2, -1) @ v"},
          "Your results look as if the weights were transposed, so that words see the future. Row i of the weights "
          "belongs to query i.", kind="axis"),
    wrong("first sentence only", {"result": "return context[0]"},
          "You return only one sentence of the batch. The result should have shape (B, T, d_out).",
          credit=0.25, kind="missing step"),
    wrong("mask is a plain attribute",
          {"buffer": "self.mask = mask", "before crop": "self.mask = self.mask.to(x.device)"},
          "The mask is a plain attribute, so it does not move with the module. Use self.register_buffer.",
          credit=0.75, kind="missing step"),
    *at("buffer",
        wrong("mask is not saved", 'self.register_buffer("mask", mask, persistent=False)',
              "The mask is a buffer with persistent=False, so it is not in state_dict. Leave that argument out.",
              credit=0.75, kind="missing step"),
        wrong("mask is a parameter", "self.mask = nn.Parameter(mask, requires_grad=False)",
              "The mask is a parameter, so an optimizer would get it, too. Register it as a buffer instead.",
              credit=0.75, kind="mix-up")),
]

FUTURE = [
    *at("hide",
        wrong("future not hidden", "",
              "Every word sees all words: the weights that you use are not masked. Set the scores above the diagonal "
              "to −∞ before softmax.", credit=0.25, kind="missing step"),
        wrong("past hidden", "scores = scores.masked_fill(mask.T, -math.inf)",
              "In your results, the past is hidden, and the future is seen. Put −∞ above the diagonal, where the later "
              "keys are.", kind="mix-up")),
]

OWN_WORD = [
    *at("hide",
        wrong("own word hidden", "scores = scores.masked_fill(~mask.T, -math.inf)",
              "A word does not see itself, as when the mask includes the diagonal. Start the mask above it: "
              "diagonal=1.", kind="mix-up"),
        wrong("next word seen", "scores = scores.masked_fill(mask.triu(2), -math.inf)",
              "A word sees the next one, as when the mask starts too far from the diagonal. Start it right above: "
              "diagonal=1.", kind="mix-up")),
]

LAYERS_NOT_TRANSPOSED = wrong(
    "weights of layers not transposed",
    {"query": "q = x @ self.W_query.weight", "key": "k = x @ self.W_key.weight",
     "value": "v = x @ self.W_value.weight"},
    "Your code works only if d_in is d_out, and its results look as if x were multiplied by the weights of the layers, "
    "without a transpose. Call the layers: self.W_query(x).", kind="convention")
HIDDEN_BY_A_NUMBER = wrong(
    "hidden by −10⁴", {"hide": ("-math.inf", "-1e4")},
    "In your results, hidden scores count as a number such as −10⁴, but other scores may be as low. Set them to −∞.",
    credit=0.75)
HIDDEN_LATE = [
    wrong("masked after softmax", {"hide": "", "after normalize": "weights = weights.masked_fill(mask, 0)"},
          "Your results look as if the future had been set to zero after softmax: rows no longer sum to one, and the "
          "future was in the sum. Mask the scores before softmax.", kind="missing step"),
    wrong("NaN or ∞ where hidden",
          [{"hide": "scores = scores.masked_fill(mask, math.inf)"},
           {"hide": "", "after normalize": "weights = weights.masked_fill(mask, -math.inf)"}],
          "Your results are NaN or infinite where something is hidden, as with +∞ in the scores or −∞ in the weights. "
          "Set hidden scores to −∞ before softmax."),
]

HIDDEN_BY_VALUE = [
    wrong("visible scores of 0 hidden",
          {"hide": "scores = scores.tril()\nscores = scores.masked_fill(scores == 0, -math.inf)"},
          "A score of exactly 0 is hidden, even where it should be seen: words of zeros make all results NaN. Decide "
          "by position: hide all above the diagonal, and nothing else.", kind="mix-up"),
    wrong("hidden scores of 0 seen",
          {"hide": "scores = scores.masked_fill(scores.triu(diagonal=1) != 0, -math.inf)"},
          "A score of exactly 0 is seen, even where it should be hidden, as that of a later word of zeros. Decide by "
          "position: hide all above the diagonal, and nothing else.", kind="mix-up"),
]

SOFTMAX_MISSING = wrong(
      "raw scores as weights", {"hide": "scores = scores.masked_fill(mask, 0)", "normalize": "weights = scores"},
      "Your values are weighted by raw scores. The weights should be the softmax of the masked scores.",
      credit=0.25, kind="missing step")

MASK_NOT_KEPT = wrong("mask not kept", {"buffer": "", "crop": "mask = torch.ones(T, T, device=x.device).triu(1) == 1"},
      "No mask is registered when your module is made. Make it once, in __init__, with self.register_buffer, and cut "
      "it to the length of the text.", credit=0.75, kind="missing step")

RENORMALIZED = wrong("renormalized after softmax",
      {"hide": "",
       "after normalize": "weights = weights.masked_fill(mask, 0)\nweights = weights / weights.sum(-1, keepdim=True)"},
      "Where hidden scores are far above the others, the visible weights all become 0, and 0/0 is NaN. That happens if "
      "you mask and renormalize after softmax. Set scores to −∞ before it.", credit=0.75)

# In dropout on weights: exercises 16 and 18.
DROPOUT = [
    wrong("nothing dropped", {"drop": ""},
          "In training, nothing is dropped. Apply dropout to the attention weights.", kind="missing step"),
    wrong("dropout of 0", {"rate": "self.dropout = nn.Dropout(0.5)"},
          "With a dropout of 0, two calls in training still differ, as when a rate is written in the code, or is the "
          "default of nn.Dropout. Take every rate from the argument dropout.", kind="hard-coded"),
    *at("drop",
        wrong("dropout always active", "weights = nn.functional.dropout(weights, self.dropout.p)",
              "Weights are dropped outside of training, too. Drop them only while self.training is true, as nn.Dropout "
              "does.", kind="missing step"),
        wrong("dropout elsewhere", "v = self.dropout(v)",
              "Something else is dropped, perhaps the values: either instead of the attention weights, or in addition "
              "to them. Drop only attention weights.", kind="mix-up")),
    wrong("dropout on the output", {"drop": "", "after mix": "context = self.dropout(context)"},
          "Your module drops entries of vectors that it computes after the weights. Drop attention weights instead, "
          "before you multiply them by the values.", kind="mix-up"),
    wrong("survivors not scaled",
          {"drop": "if self.training:\n    weights = weights * (torch.rand_like(weights) >= self.dropout.p)"},
          "Weights that survive dropout must be divided by 1 − p, as nn.Dropout does.", kind="missing step"),
]

DROPPED_SCORES = [
    wrong("dropout before softmax", {"drop": "", "after scale": "scores = self.dropout(scores)"},
          "Your weights sum to one even with dropout, as when the input of softmax is dropped. Drop weights, after the "
          "last softmax.", kind="mix-up"),
    wrong("dropout on masked scores", {"drop": "", "before normalize": "scores = self.dropout(scores)"},
          "In training, your results have NaN or infinite numbers, as when masked scores are dropped: 0 · −∞ is NaN. "
          "Drop weights, after the softmax.", kind="mix-up"),
]

ONE_LAYER = wrong("one layer for all",
                  {"projections": "self.W_query = self.W_key = self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)"},
                  "W_query, W_key and W_value are one and the same layer. Make three separate layers.", kind="mix-up")


def of_modules(last: str, result: str = "context") -> list[Misconception]:
    """In modules whose ordinary numbers are all right. `last` is the mark of the last line of `__init__`."""
    return [
        wrong("softmax not shifted", {"normalize": "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)"},
              "Where scores are large, exp overflows, or gives 0 in a whole row, and ∞/∞ and 0/0 are NaN. Use "
              "torch.softmax, or subtract the maximum of each row before exp.", credit=0.75, kind="missing step"),
        *any_module.of_any(last, result),
    ]
# fmt: on
