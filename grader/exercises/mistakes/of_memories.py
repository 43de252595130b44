"""Mistakes in a memory that is written with keys and read with queries: both functions of exercise 42."""

from __future__ import annotations

from functools import partial

import grader
from grader import Needs, at

wrong = partial(
    grader.wrong,
    needs=Needs("query key start join result", "queries keys values state outputs q k B H d"),
)


# fmt: off
IN_EITHER = [
    *at("key",
        wrong("keys not normalized", "k = keys",
              "In your results, keys keep their lengths. Divide each by its length, so that writing with beta "
              "= 1 replaces what is there.", kind="missing step"),
        wrong("neither normalized", "k = keys",
              "In your results, neither queries nor keys are divided by their lengths. Divide each vector by its "
              "own.", kind="missing step", also={"query": "q = queries"}),
        wrong("normalized over words", "k = F.normalize(keys, dim=2)",
              "In your results, lengths are taken over the words of a sentence. Divide each vector by its own "
              "length: dim=-1.", kind="axis", also={"query": "q = F.normalize(queries, dim=2)"}),
        wrong("divided by the root of the mean square", "k = F.rms_norm(keys, keys.shape[-1:])",
              "Your queries and keys have the length √d, as after an RMSNorm. Divide each by its own length, so "
              "that it becomes 1.", kind="scaling", also={"query": "q = F.rms_norm(queries, queries.shape[-1:])"}),
        wrong("divided by the sum of squares", "k = keys / keys.square().sum(-1, keepdim=True)",
              "Your queries and keys are divided by their squared lengths. Divide by the length, the root of that.",
              kind="scaling", also={"query": "q = queries / queries.square().sum(-1, keepdim=True)"}),
        wrong("softmax of keys", "k = torch.softmax(keys, dim=-1)",
              "Your queries and keys are softmaxes over their entries. Divide each by its length instead.",
              also={"query": "q = torch.softmax(queries, dim=-1)"})),
    *at("query",
        wrong("queries not normalized", "q = queries",
              "In your results, queries keep their lengths. Divide each by its length, like the keys.",
              kind="missing step"),
        wrong("queries scaled by √d", "q = F.normalize(queries, dim=-1) / keys.shape[-1] ** 0.5",
              "Your outputs, or your queries, are divided by √d. Queries and keys have length 1 here: leave that "
              "out.", kind="scaling")),
    wrong("values normalized", {"before start": "values = F.normalize(values, dim=-1)"},
          "In your results, values are divided by their lengths, too. Use them as they are.", kind="mix-up"),
    wrong("queries and keys exchanged", {"query": "q = F.normalize(keys, dim=-1)",
                                         "key": "k = F.normalize(queries, dim=-1)"},
          "Queries and keys are swapped in your results. Write with keys, and read with queries.", kind="mix-up"),
    wrong("state without effect", {"start": "state = values.new_zeros(B, H, d, values.shape[-1])"},
          "Your results ignore the state that is handed over: the memory is empty at the beginning. Begin with the "
          "state if there is one.", kind="missing step"),
    *at("result",
        wrong("outputs alone", "return outputs",
              "You return only the outputs. Return two: the outputs, and the state at the end.",
              kind="missing step"),
        wrong("state transposed", "return outputs, state.mT",
              "Your state has the shape (B, H, d_v, d). Return it as (B, H, d, d_v): rows belong to entries of "
              "keys.", kind="arrangement"),
        wrong("state kept transposed", "return outputs, state.mT",
              "Your state is taken and returned as (B, H, d_v, d). It is (B, H, d, d_v): rows belong to entries of "
              "keys.", kind="arrangement",
              also={"before start": "state = None if state is None else state.mT"}),
        wrong("state first", "return state, outputs",
              "You return the state first. Return the outputs first, then the state.", kind="arrangement")),
    wrong("words before heads in outputs", {"after join": "outputs = outputs.transpose(1, 2)"},
          "Your outputs have the shape (B, T, H, d_v). Put the heads before the words: (B, H, T, d_v).",
          kind="arrangement"),
]
# fmt: on
