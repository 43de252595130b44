"""Exercise 42: a memory of fixed size in which values are replaced, and which forgets."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from grader import TENSORS, Case, Exercise, at, wrong
from grader.kit.pieces import as_pieces

from .delta_cases import OF_ANY_LENGTH, WORDS, along_a_line, erased, forgetting, longest, sized, with_state
from .gated_delta_chunks import chunks_exercise
from .mistakes.of_memories import IN_EITHER
from .mistakes.of_pieces import another_type, gradients_lost


def gated_delta(queries, keys, values, alpha, beta, state=None):
    q = F.normalize(queries, dim=-1)  # (B, H, T, d)  #: query
    k = F.normalize(keys, dim=-1)  #: key
    B, H, T, d = keys.shape
    if state is None:  #: start
        state = values.new_zeros(B, H, d, values.shape[-1])
    outputs = []
    for t in range(T):
        a, b = alpha[:, :, t, None, None], beta[:, :, t, None, None]  # (B, H, 1, 1)  #: gates
        key, value, query = (x[:, :, t, None] for x in (k, values, q))  # (B, H, 1, d), or d_v  #: step
        state = a * state  # (B, H, d, d_v)  #: forget
        error = value - key @ state  # (B, H, 1, d_v)  #: error
        state = state + b * key.mT @ error  #: write
        output = query @ state  # (B, H, 1, d_v)  #: read
        outputs.append(output)
    outputs = torch.cat(outputs, dim=2)  # (B, H, T, d_v)  #: join
    return outputs, state  #: result


OLD = {"before forget": "old = state"}


# fmt: off
exercise = Exercise(
    number=42,
    assignment="modern_attention",
    title="A memory that forgets",
    solution=gated_delta,
    form=TENSORS,
    others=[chunks_exercise],
    cases=[
        Case("two sentences of five words", "sums that are never replaced", sized(2, 2, 5, 4, 3)),
        Case("a state from before", "a state that is ignored, or read in the wrong place", with_state(2, 3, 4, 3, 5)),
        Case("one word", "errors before the first word", sized(2, 3, 1, 4, 2)),
        Case("one word after others", "a state that has no effect", with_state(1, 2, 1, 3, 4)),
        Case("one entry", "squeezed dimensions", sized(1, 2, 4, 1, 1)),
        Case("everything is four", "axes that are exchanged without an error", with_state(4, 4, 4, 4, 4)),
        Case("the delta rule", "alpha taken for beta", erased(2, 2, 6, 3, 4)),
        Case("decay alone", "a gate that does not close", forgetting(1, 3, 4, 5, 2)),
        Case("keys along a line", "errors before the decay, or of another state", along_a_line(2, 2, 6, 3, 2)),
        Case("a text of many words", "a text of a fixed length", sized(1, 1, WORDS, 3, 2), OF_ANY_LENGTH, once=True),
        Case("long vectors", "√d for the length", longest(2, 2, 4, 6, 5)),
        *as_pieces(with_state(2, 2, 4, 3, 5)),
    ],
    mistakes=[
        *at("error",
            wrong("error before the decay", "error = value - key @ old",
                  "In your results, the error is taken from the memory before it has decayed. Decay first: subtract "
                  "what the decayed memory holds for the key.", kind="mix-up", also=OLD),
            wrong("no error", "error = value",
                  "In your results, beta times the value is added and nothing is taken away, as in linear attention "
                  "with a decay. Write only the error: the value minus what the memory holds for the key.",
                  credit=0.25, kind="missing step"),
            wrong("sign of the error flipped", "error = key @ state - value",
                  "In your results, errors have the wrong sign. Take the value minus what the memory holds for the "
                  "key, and add it.", kind="mix-up"),
            wrong("memory added to the value", "error = value + key @ state",
                  "In your results, what the memory holds for the key is added to the value. Subtract it: what is "
                  "there is to be replaced.", kind="mix-up"),
            wrong("error of the query", "error = value - query @ state",
                  "Your errors are the value minus what the memory holds for the query. Ask it for the key.",
                  kind="mix-up"),
            wrong("beta in the error, too", "error = value - b * (key @ state)",
                  "In your results, beta weights what the memory holds, and then the whole error again. Multiply by it "
                  "once, the whole error.", kind="mix-up"),
            wrong("decay in the error, too", "error = value - a * (key @ state)",
                  "In your results, what the memory holds for the key decays twice before it is subtracted. Apply "
                  "alpha once to the memory.", kind="mix-up")),
        *at("write",
            wrong("always full strength", "state = state + key.mT @ error",
                  "Your results ignore beta: every word is written with full strength. Multiply the error by beta.",
                  kind="missing step"),
            wrong("beta on values alone", "state = state + key.mT @ (b * value - key @ state)",
                  "In your results, beta weights the values, but not what is taken away. Multiply the whole error by "
                  "beta.", kind="mix-up"),
            wrong("beta on what is erased alone", "state = state + key.mT @ (value - b * (key @ state))",
                  "In your results, beta weights what is taken away, but not the values. Multiply the whole error by "
                  "beta.", kind="mix-up"),
            wrong("1 − beta for beta", "state = state + (1 - b) * key.mT @ error",
                  "In your results, a word is written with 1 − beta. Write it with beta: 1 replaces what is there.",
                  kind="mix-up"),
            wrong("written and not added", "state = b * key.mT @ error",
                  "In your results, the memory holds only the last word. Add each word to what is there.",
                  credit=0.25, kind="missing step"),
            wrong("memory weighed by 1 − beta", "state = (1 - b) * state + b * key.mT @ value",
                  "In your results, each word fades the whole memory by 1 − beta, and then adds its value. Take away "
                  "only what the memory holds for this key: write beta times the error.")),
        *at("forget",
            wrong("no decay", "",
                  "Your results ignore alpha: nothing decays. Multiply the memory by alpha before each word.",
                  kind="missing step"),
            wrong("decay by 1 − alpha", "state = (1 - a) * state",
                  "In your results, the memory is multiplied by 1 − alpha. Multiply it by alpha: 1 keeps everything.",
                  kind="mix-up"),
            wrong("decay by exp(alpha)", "state = a.exp() * state",
                  "In your results, the memory is multiplied by exp(alpha). Your alpha is not a logarithm: multiply by "
                  "it as it is.", kind="mix-up"),
            wrong("decay after the word", "",
                  "In your results, the memory decays after a word is written, and before it is read. Decay first, "
                  "then write.", kind="mix-up", also={"after write": "state = a * state"}),
            wrong("decay after the reading", "",
                  "In your results, the memory decays at the end of each step. Decay first, then write and read.",
                  kind="mix-up", also={"after read": "state = a * state"})),
        wrong("alpha and beta exchanged", {"gates": "a, b = beta[:, :, t, None, None], alpha[:, :, t, None, None]"},
              "Alpha and beta are swapped in your results. Alpha is how much stays, beta how much is written.",
              kind="mix-up"),
        wrong("first word's gates for all", {"gates": "a, b = alpha[:, :, 0, None, None], beta[:, :, 0, None, None]"},
              "In your results, all words have the alpha and beta of the first. Each word has its own.",
              kind="mix-up"),
        *at("read",
            wrong("output from the old state", "output = query @ old",
                  "Your outputs are read from the memory as it was before their word. Read after the word is written.",
                  kind="mix-up", also=OLD),
            wrong("output before the word is written", "output = query @ decayed",
                  "Your outputs are read from the decayed memory, before their word is written. Read after it.",
                  kind="mix-up", also={"after forget": "decayed = state"}),
            wrong("output of the key", "output = key @ state",
                  "Your outputs are what the memory holds for the key. Read it with the query.", kind="mix-up")),
        *at("result",
            wrong("state of the beginning returned", "return outputs, first",
                  "Your second result is the state at the beginning. Return the one at the end.", kind="mix-up",
                  also={"after start": "first = state"}),
            wrong("all states returned", "return outputs, torch.stack(states, dim=2)",
                  "Your second result is the memory after every word. Return only that at the end.",
                  kind="mix-up", also={"after start": "states = []", "after write": "states.append(state)"})),
        *IN_EITHER,
        *gradients_lost("outputs, state"),
        *another_type("outputs, state", "after join"),
    ],
)
# fmt: on
