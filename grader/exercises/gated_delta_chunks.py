"""The second function of exercise 42: the same, by chunks of words in place of single ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from grader import TENSORS, Broken, Case, Exact, Exercise, Finding, Inputs, at, put_once, wrong
from grader.kit.pieces import as_pieces

from .delta_cases import OF_ANY_LENGTH, WORDS, along_a_line, erased, forgetting, longest, sized, with_state
from .mistakes.of_memories import IN_EITHER
from .mistakes.of_pieces import another_type, gradients_lost


def gated_delta_chunks(queries, keys, values, alpha, beta, chunk, state=None):
    q = F.normalize(queries, dim=-1)  # (B, H, T, d)  #: query
    k = F.normalize(keys, dim=-1)  #: key
    B, H, T, d = keys.shape
    if state is None:  #: start
        state = values.new_zeros(B, H, d, values.shape[-1])
    blocks = []
    for first in range(0, T, chunk):  #: loop
        block = slice(first, min(first + chunk, T))  #: block
        q_c, k_c, v_c = q[:, :, block], k[:, :, block], values[:, :, block]  # (B, H, C, ...)  #: parts
        b = beta[:, :, block, None]  # (B, H, C, 1)  #: strength
        logs = alpha[:, :, block].log().cumsum(dim=-1)  # (B, H, C)  #: logs
        since = logs.exp()[..., None]  # what is left of the state, (B, H, C, 1)  #: since
        C = logs.shape[-1]
        later = torch.ones(C, C, dtype=torch.bool, device=logs.device).triu(1)
        decay = (logs[..., :, None] - logs[..., None, :]).masked_fill(later, -math.inf).exp()  # (B, H, C, C)  #: decay

        overlap = b * decay * (k_c @ k_c.mT)  # of keys with earlier ones, (B, H, C, C)  #: overlap
        target = b * (v_c - since * (k_c @ state))  # (B, H, C, d_v)  #: target
        writes = torch.linalg.solve_triangular(overlap, target, upper=False, unitriangular=True)  #: solve
        blocks.append(since * (q_c @ state) + (decay * (q_c @ k_c.mT)) @ writes)  #: read
        left = decay[..., -1, :, None]  # of each write, at the end of the chunk, (B, H, C, 1)  #: left
        state = since[..., -1:, :] * state + k_c.mT @ (left * writes)  #: carry
    outputs = torch.cat(blocks, dim=2)  # (B, H, T, d_v)  #: join
    return outputs, state  #: result


WORD_BY_WORD = "word by word"
MANY_STATES = (
    "Your gated_delta_chunks goes word by word: it makes a new state for each word. Make one for each chunk, and "
    "compute what happens within a chunk by products of matrices."
)


class States(TorchFunctionMode):
    """Counts how often a matrix of (d, d_v), or of (d_v, d), is computed."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shapes = [list(shape), list(reversed(shape))]
        self.count = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        self.count += isinstance(result, torch.Tensor) and list(result.shape[-2:]) in self.shapes
        return result


def probe(function: Callable[..., Any], *inputs: Any) -> Any:
    """The result of one call, its gradients, or whether it makes as many states as there are words."""
    *arguments, options = inputs
    if not isinstance(options, dict) or "counts" not in options:
        return put_once(function, inputs)
    _, keys, values, *_ = arguments
    with States(keys.shape[-1], values.shape[-1]) as states:
        function(*arguments)
    return {WORD_BY_WORD: states.count >= keys.shape[2]}


class OnceAChunk(Exact):
    """Two tensors and their gradients count, and so does whether code goes word by word."""

    def finding(self, actual: Any, expected: Any, tolerance: float) -> Finding | None:
        """What is wrong with results, with gradients, or with how they are computed."""
        if not is_count(expected):
            return TENSORS.finding(actual, expected, tolerance)
        return None if actual == expected else Broken("steps", MANY_STATES)

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is that of a misconception."""
        return bool(answer == wrong) if is_count(expected) else TENSORS.agrees(answer, wrong, expected, tolerance)

    def is_evidence(self, wrong: object) -> bool:
        """Whether a wrong answer shows what is computed."""
        return not is_count(wrong)

    def paired_numbers(self, actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All computed numbers with the expected ones."""
        return [] if is_count(expected) else TENSORS.paired_numbers(actual, expected)


def is_count(answer: object) -> bool:
    """Whether this is the probe's note on how code computes."""
    return isinstance(answer, dict) and WORD_BY_WORD in answer


def counted(rng: torch.Generator) -> Inputs:
    """Six chunks, and sizes of a state that nothing else has."""
    return *sized(1, 1, 192, 5, 7, 32)(rng), {"counts": True}


FILLED = (
    "Your code is right where chunks divide the text, but not elsewhere. T need not be a multiple of chunk: the last "
    "chunk may be shorter."
)


# fmt: off
chunks_exercise = Exercise(
    number=42,
    assignment="modern_attention",
    title="A memory that forgets",
    solution=gated_delta_chunks,
    form=OnceAChunk(),
    probe=probe,
    cases=[
        Case("three chunks of two", "a state that is not carried on", sized(2, 2, 6, 4, 3, 2)),
        Case("a state from before", "a state that is ignored, or read in the wrong place",
             with_state(1, 3, 6, 3, 5, 3)),
        Case("one chunk", "later words seen within a chunk, a decay that is missing", sized(2, 1, 5, 4, 2, 5)),
        Case("a last chunk that is shorter", "a last chunk left out, or filled up", with_state(2, 2, 7, 3, 4, 3),
             beside=FILLED),
        Case("a chunk larger than the text", "a text that is filled up", with_state(1, 2, 3, 4, 2, 8), beside=FILLED),
        Case("chunks of one word", "a word that is not in its own chunk", with_state(2, 1, 3, 4, 5, 1)),
        Case("one word", "squeezed dimensions", sized(2, 3, 1, 4, 2, 4)),
        Case("one entry", "squeezed dimensions", sized(1, 2, 4, 1, 1, 2)),
        Case("everything is four", "axes that are exchanged without an error", with_state(4, 4, 4, 4, 4, 4)),
        Case("the delta rule", "alpha taken for beta", erased(2, 2, 6, 3, 4, 4)),
        Case("decay alone", "a gate that does not close", forgetting(1, 3, 4, 5, 2, 2)),
        Case("keys along a line", "words of a chunk that do not meet", along_a_line(2, 2, 6, 3, 2, 4)),
        Case("a text of many words", "a text of a fixed length", sized(1, 1, WORDS, 3, 2, 32), beside=OF_ANY_LENGTH,
             once=True),
        Case("long vectors", "√d for the length", longest(2, 2, 4, 6, 5, 3)),
        *as_pieces(with_state(2, 2, 5, 3, 4, 2)),
        Case("how many states", "a loop over words", counted, beside=MANY_STATES, once=True),
    ],
    mistakes=[
        wrong("word by word", {"before loop": "chunk = 1"}, MANY_STATES),
        *at("decay",
            wrong("no decay within a chunk", "decay = torch.ones(C, C, dtype=k.dtype).tril()",
                  "In your results, what words of a chunk write does not decay within it. What word j writes reaches "
                  "word i times the product of the alphas after j, up to i; the same holds for the state at the end.",
                  kind="missing step"),
            wrong("decay of the own alpha", "decay = (logs[..., :, None] - logs[..., None, :]).masked_fill("
                  "later, -math.inf).exp() * alpha[:, :, None, block]",
                  "Within a chunk, what a word writes decays by its own alpha, too. It is written after that decay: "
                  "take the product of the alphas after it."),
            wrong("later words seen", "decay = (logs[..., :, None] - logs[..., None, :]).exp()",
                  "In your results, queries see later words of their chunk. Keep the lower triangle only.",
                  kind="missing step")),
        *at("overlap",
            wrong("no decay between keys", "overlap = b * (k_c @ k_c.mT)",
                  "In your results, the products of keys with earlier keys do not decay. Multiply each by the product "
                  "of the alphas between the two words.", kind="missing step"),
            wrong("no beta between keys", "overlap = decay * (k_c @ k_c.mT)",
                  "In your results, the products of keys with earlier keys lack beta. Multiply row i by beta_i.",
                  kind="missing step"),
            wrong("beta of the earlier word", "overlap = b.mT * decay * (k_c @ k_c.mT)",
                  "In your results, the products of keys with earlier keys have the beta of the earlier word. Multiply "
                  "row i by beta_i, that of the word that writes.", kind="axis")),
        *at("target",
            wrong("always full strength", "target = v_c - since * (k_c @ state)",
                  "Your results ignore beta: every word is written with full strength. Multiply each error by its "
                  "beta.", kind="missing step", also={"overlap": "overlap = decay * (k_c @ k_c.mT)"}),
            wrong("no beta on the right side", "target = v_c - since * (k_c @ state)",
                  "In your results, the right side of the triangular system lacks beta. Multiply its row i by beta_i, "
                  "as on the left.", kind="missing step"),
            wrong("beta on values alone", "target = b * v_c - since * (k_c @ state)",
                  "In your results, beta weights the values, but not what the state holds. Multiply the difference by "
                  "beta.", kind="mix-up"),
            wrong("state not subtracted", "target = b * v_c",
                  "In your results, a word does not replace what earlier chunks wrote for its key. Subtract what the "
                  "decayed state holds.", kind="missing step"),
            wrong("state subtracted without decay", "target = b * (v_c - k_c @ state)",
                  "In your results, the state has not decayed when it is subtracted from the values. Multiply by the "
                  "product of the alphas since the beginning of the chunk.", kind="missing step")),
        *at("solve",
            wrong("diagonal counted twice", "writes = torch.linalg.solve_triangular(overlap.tril() + torch.eye(C, "
                  "dtype=k.dtype), target, upper=False)",
                  "In your results, the triangular matrix also has the products of keys with themselves. Its diagonal "
                  "is 1.", kind="mix-up"),
            wrong("sign of the overlap flipped", ("(overlap", "(-overlap"),
                  "In your results, the triangular matrix has the wrong sign below its diagonal. Solve (1 + A) U = …, "
                  "with a plus.", kind="mix-up"),
            wrong("nothing solved", "writes = target",
                  "In your results, words of a chunk do not replace what others of the same chunk wrote. Solve the "
                  "triangular system.", credit=0.25, kind="missing step"),
            wrong("multiplied, not solved", "writes = target + overlap.tril(-1) @ target",
                  "Your right side is multiplied by the triangular matrix. Solve the system: multiply by its inverse.",
                  kind="mix-up"),
            wrong("one step of a series", "writes = target - overlap.tril(-1) @ target",
                  "In your results, each word takes account of the earlier ones of its chunk, but not of what these "
                  "replaced. Solve the triangular system exactly.")),
        *at("read",
            wrong("no decay between queries and keys",
                  "blocks.append(since * (q_c @ state) + (q_c @ k_c.mT).tril() @ writes)",
                  "In your results, the products of queries with keys do not decay. Multiply each by the product of "
                  "the alphas between the two words.", kind="missing step"),
            wrong("own word not read", "blocks.append(since * (q_c @ state) + "
                  "(decay * (q_c @ k_c.mT)).tril(-1) @ writes)",
                  "In your results, a query does not see its own word. Read after it is written: keep the diagonal.",
                  kind="mix-up"),
            wrong("state read without decay", "blocks.append(q_c @ state + (decay * (q_c @ k_c.mT)) @ writes)",
                  "In your results, the state of the chunk's beginning is read without decay. Multiply by the product "
                  "of the alphas since then.", kind="missing step"),
            wrong("chunk alone read", "blocks.append((decay * (q_c @ k_c.mT)) @ writes)",
                  "Your outputs are read from the words of their chunk alone. Add what the decayed state holds.",
                  kind="missing step"),
            wrong("state alone read", "blocks.append(since * (q_c @ state))",
                  "Your outputs are read from the state at the beginning of their chunk. Add what its own words have "
                  "written.", kind="missing step"),
            wrong("values read", "blocks.append(since * (q_c @ state) + (decay * (q_c @ k_c.mT)) @ v_c)",
                  "In your outputs, the words of the chunk count with their values. Use what they write: the solution "
                  "of the triangular system.", kind="mix-up"),
            wrong("state of the end read", "",
                  "Your outputs read the state of the end of their chunk. Read that of its beginning.", kind="mix-up",
                  also={"after carry": "blocks.append(since * (q_c @ state) + (decay * (q_c @ k_c.mT)) @ writes)"})),
        *at("carry",
            wrong("state not carried on", "",
                  "In your results, all chunks begin with the same state. Hand on that of the end of each chunk.",
                  kind="missing step"),
            wrong("state without the old one", "state = k_c.mT @ (left * writes)",
                  "Your state holds only the words of the last chunk. Add what is left of the state before.",
                  kind="missing step"),
            wrong("state not decayed", "state = state + k_c.mT @ (left * writes)",
                  "From one chunk to the next, your state does not decay. Multiply it by the product of the chunk's "
                  "alphas.", kind="missing step"),
            wrong("writes not decayed", "state = since[..., -1:, :] * state + k_c.mT @ writes",
                  "At the end of a chunk, what its words wrote is added without decay. Multiply each by the product of "
                  "the alphas after it.", kind="missing step"),
            wrong("values carried", "state = since[..., -1:, :] * state + k_c.mT @ (left * v_c)",
                  "Your state adds the values of a chunk. Add what its words write: the solution of the triangular "
                  "system.", kind="mix-up"),
            wrong("writes decayed from the beginning",
                  "state = since[..., -1:, :] * state + k_c.mT @ (since * writes)",
                  "At the end of a chunk, each write is multiplied by the alphas up to its word. Multiply it by those "
                  "after its word.", kind="mix-up")),
        wrong("no decay at all", {"logs": "logs = torch.zeros_like(alpha[:, :, block])"},
              "Your results ignore alpha: nothing decays. Multiply by the products of alphas.", kind="missing step"),
        wrong("decay since the beginning of the text",
              {"logs": "logs = alpha.log().cumsum(dim=-1)[:, :, block]"},
              "In your results, the state decays in each chunk by the alphas of all words so far. It has already "
              "decayed up to the end of the chunk before: begin the product anew in each.", kind="mix-up"),
        wrong("last chunk left out", {"loop": "for first in range(0, T - T % chunk, chunk):"},
              "The words after the last full chunk are left out. T need not be a multiple of chunk: go through the "
              "last, shorter chunk, too.", kind="missing step"),
        *at("result",
            wrong("state of the beginning returned", "return outputs, begun",
                  "Your second result is the state at the beginning. Return the one at the end.", kind="mix-up",
                  also={"after start": "begun = state"})),
        *IN_EITHER, *gradients_lost("outputs, state"), *another_type("outputs, state", "after join"),
    ],
)
# fmt: on
