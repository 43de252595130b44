"""Exercise 15: dropout on attention weights. Dropped entries are random, so answers are checked against its rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader import (
    CUT_OFF,
    RUINED,
    Case,
    Exercise,
    InParts,
    Inputs,
    Observation,
    at,
    copy_tensor,
    is_ruined,
    randn,
    result_of,
    wrong,
)
from grader.kit.dropout_rules import (
    ALL_CHANGED,
    ALL_SCALED,
    DROPPED_IN_VAIN,
    EVERYTHING_DROPPED,
    MASK_ALONE,
    NOT_FINITE,
    NOTHING_DROPPED,
    SAME_IN_BATCH,
    SHARED,
    WHOLE_COLUMNS,
    WHOLE_ROWS,
    finding,
)
from grader.kit.pieces import FLOAT64, other_type

from .mistakes.of_pieces import another_type, gradients_lost

Tensor = torch.Tensor

ROUNDING = 1e-5  # numbers are only multiplied
COUNTED_CALLS = 6  # for which only the number of zeros is noted
SAME_AGAIN = "Two calls drop the same entries. Draw new random numbers in each call, and do not set a seed there."
WITHOUT_CHANCE = (
    "Two calls give the same result: nothing is left to chance. Draw a new random number for each entry in each call."
)
_OF_CHANCE = (WHOLE_ROWS, WHOLE_COLUMNS, SAME_IN_BATCH, SHARED, MASK_ALONE, ALL_CHANGED)
_OF_WHOLE_CALLS = (ALL_SCALED, ALL_CHANGED, NOTHING_DROPPED, EVERYTHING_DROPPED)
ALL_OR_NONE = (
    "Each call drops all of its entries or none, as with a single random draw. Draw a random number for every entry: "
    "torch.rand_like."
)
NOT_IN_ALL_CALLS = "Some calls drop all entries or none. Draw a random number for every entry in each call."
SAME_NUMBER = (
    "Each call drops the same number of entries. Drop each entry with probability p, independently of the others."
)
OTHER_GRADIENT = (
    "The gradient should be the number that each entry is multiplied by, but it is not. Perhaps something is detached "
    "on the way, or an entry is divided by something that depends on the entries, such as their sum. Multiply each "
    "entry by 0 or by 1/(1 − p), and nothing else."
)


def inverted_dropout(attn_weights, p, training):
    if not training:  #: evaluation
        return attn_weights  #: unchanged
    chances = torch.rand_like(attn_weights)  # even between 0 and 1  #: chances
    survives = chances >= p  # true with probability 1 - p  #: survives
    dropped = attn_weights * survives  #: drop
    return dropped / (1 - p)  #: scale


class TwiceSeen(Observation, frozen=True):
    """What two calls return, and what others show."""

    outputs: dict[str, Any]  # "first" and "second"
    zeros: list[int]  # how many each of some more calls returns
    third: Any  # what another call returns
    gradient: Any  # of the sum of that, for the first input
    ruined: bool  # whether a change in place has made it impossible

    def __post_init__(self) -> None:
        if self.outputs.keys() != {"first", "second"}:
            raise ValueError("the outputs are not those of two calls")


def call_twice(function: Callable[..., Any], *inputs: Any) -> dict[str, Any]:
    """Call it twice and note both results, and then some more times. A call must not change an earlier result.

    Only the first call gets the inputs themselves, so that its changes do not reach the others.
    """

    def another_result() -> Any:
        return result_of(function, list(map(copy_tensor, copies)))

    copies = list(map(copy_tensor, inputs))
    outputs = {"first": copy_tensor(result_of(function, inputs)), "second": another_result()}
    zeros = [zeros_in(another_result()) for _ in range(COUNTED_CALLS)]
    return {"outputs": outputs, "zeros": zeros, **third_call(function, *copies)}


def zeros_in(result: object) -> int:
    return int((result == 0).sum()) if isinstance(result, Tensor) else 0


def third_call(function: Callable[..., Any], first: Tensor, *settings: Any) -> dict[str, Any]:
    """The result of another call, and the gradient of its sum with respect to the first input, or None."""
    leaf = first.clone().requires_grad_()
    observed: dict[str, Any] = {"third": None, "gradient": None, "ruined": False}
    try:
        result = function(leaf.clone(), *settings)
    except (NotImplementedError, TimeoutError):  # still to do, or stopped: endless code is not called again
        raise
    except Exception:
        return observed
    if not isinstance(result, Tensor):
        return observed
    observed["third"] = result
    if result.requires_grad:
        try:
            (observed["gradient"],) = torch.autograd.grad(result.sum(), [leaf], allow_unused=True)
        except RuntimeError as error:
            observed["ruined"] = is_ruined(error)
    return observed


def read(observation: TwiceSeen, attn_weights: Tensor, p: float, training: bool) -> dict[str, Any]:
    """A sentence on which entries were dropped and, in evaluation, the numbers. If they are right, two more parts."""
    first, second = observation.outputs["first"], observation.outputs["second"]
    sentence = finding(first, attn_weights, p if training else 0.0, ROUNDING)
    readings: dict[str, Any]
    if training:
        sentence = sentence or finding(second, attn_weights, p, ROUNDING)
        if p and sentence.startswith(_OF_WHOLE_CALLS):
            sentence = _of_whole_calls(sentence, [first, second], observation.zeros)
        elif sentence and not p:
            sentence = f"At a rate of 0, {sentence[0].lower()}{sentence[1:]}"
        if sentence.startswith(_OF_CHANCE) and torch.equal(first, second):
            sentence = WITHOUT_CHANCE
        readings = {"pattern": sentence or (_regular([first, second], observation.zeros) if p else "")}
    else:
        by_chance = sentence in (DROPPED_IN_VAIN, NOT_FINITE)  # then no two answers have the same numbers
        readings = {"output": attn_weights if by_chance else first, "pattern": sentence if by_chance else ""}
    right = not sentence and not readings["pattern"]
    return {
        **readings,
        "type": other_type(first, attn_weights) * right,
        "gradient": _gradient(observation, attn_weights) * right,
    }


def _of_whole_calls(sentence: str, results: Sequence[Tensor], zeros: Sequence[int]) -> str:
    """A sentence on calls of which one drops all entries, or none: whether others do the same."""
    entries = results[0].numel()
    counts = {*(int((result == 0).sum()) for result in results), *zeros}
    if counts == {0, entries}:
        return ALL_OR_NONE
    return sentence if len(counts) == 1 else NOT_IN_ALL_CALLS


def _regular(results: Sequence[Tensor], zeros: Sequence[int]) -> str:
    """A sentence on something that should be random but is not: which entries are dropped, or how many."""
    first, second = (result == 0 for result in results)
    if torch.equal(first, second):
        return SAME_AGAIN
    # Here, chance drops the same number twice in 1 of 65 cases at most: eight times in less than 1 of 10¹².
    return SAME_NUMBER if {int(first.sum()), int(second.sum()), *zeros} == {int(first.sum())} and zeros else ""


def _gradient(observation: TwiceSeen, attn_weights: Tensor) -> str:
    """A sentence if the gradient is not the factor of each entry."""
    if observation.gradient is None:
        return RUINED if observation.ruined else CUT_OFF
    if observation.third is None:
        return ""
    by_gradient, third = (tensor.double() for tensor in (observation.gradient * attn_weights, observation.third))
    return "" if torch.allclose(by_gradient, third, rtol=1e-4, atol=1e-5) else OTHER_GRADIENT


def sized(*shape: int, p: float, training: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (torch.softmax(randn(rng, *shape), dim=-1), p, training)


BY_THE_SUM = (
    "In your results, what is left of each row is divided by its sum. Multiply all survivors by 1/(1 − p) instead."
)


# fmt: off
exercise = Exercise(
    number=15,
    assignment="causal_attention",
    title="Dropout",
    solution=inverted_dropout,
    lent=inverted_dropout,
    form=InParts(TwiceSeen),
    probe=call_twice,
    read=read,
    # Random cases have so many entries that 1 − p, 0.5 and torch.randn clearly drop a different number of them than p.
    # Eight answers of two calls each, at less than 3e-8 a call (see tests/kit/test_dropout.py): a right function is
    # refused with a probability below 5e-7.
    cases=[
        Case("evaluation", catches="dropout at all times", inputs=sized(7, 5, p=0.4, training=False)),
        Case("evaluation of one row", catches="squeezed dimensions", inputs=sized(1, 6, p=0.5, training=False)),
        Case("evaluation of a batch", catches="weights scaled in evaluation",
             inputs=sized(2, 3, 4, 4, p=0.6, training=False)),
        Case("training, a rate of 0", catches="a division by the rate, everything or something dropped",
             inputs=sized(6, 7, p=0.0, training=True),
             beside="Your code is right for other rates, but not for a rate of 0. In that case, return the weights "
                    "unchanged."),
        Case("training, a matrix", catches="a hard-coded rate, p and 1 − p exchanged, whole rows",
             inputs=sized(50, 41, p=0.3, training=True)),
        Case("training, a batch at a high rate", catches="survivors not scaled, one mask for the whole batch",
             inputs=sized(4, 20, 27, p=0.8, training=True)),
        Case("training, four dimensions", catches="randn for rand, a comparison of the numbers with p",
             inputs=lambda rng: (0.05 + 0.9 * torch.rand(3, 4, 12, 20, generator=rng), 0.25, True)),
        Case("float64 inputs", catches="a result of another type than the input",
             inputs=lambda rng: (torch.softmax(randn(rng, 60, 40).double(), dim=-1), 0.35, True), beside=FLOAT64),
    ],
    mistakes=[
        *at("scale",
            wrong("survivors not scaled", "return dropped",
                  "Survivors keep their size, so the sum shrinks. Multiply them by 1/(1 − p).", kind="missing step"),
            wrong("divided by p", "return dropped / p",
                  "Your survivors are multiplied by 1/p. The part that survives is 1 − p: multiply by 1/(1 − p).",
                  kind="scaling"),
            wrong("multiplied by 1 − p", "return dropped * (1 - p)",
                  "Your survivors are multiplied by 1 − p, which makes the sum even smaller. Divide by 1 − p.",
                  kind="scaling"),
            wrong("multiplied by p", "return dropped * p",
                  "Your survivors are multiplied by p. Multiply them by 1/(1 − p).", kind="scaling"),
            wrong("scaled twice", "return dropped / (1 - p) / (1 - p)",
                  "Your survivors are divided by 1 − p twice. Divide only once: F.dropout and nn.Dropout already do "
                  "it.", kind="scaling"),
            wrong("doubled", "return dropped * 2",
                  "Your survivors are multiplied by 2, which is right for p = 0.5 only. Multiply by 1/(1 − p).",
                  kind="hard-coded")),
        wrong("p and 1 − p exchanged", {"survives": "survives = chances >= 1 - p"},
              "Your entries are dropped with probability 1 − p. The rate p is the share that is dropped, not the share "
              "that stays.", kind="mix-up"),
        wrong("p as the rate of survival", {"survives": "survives = chances >= 1 - p", "scale": "return dropped / p"},
              "Your entries are kept with probability p and divided by p. Drop them with probability p, and divide "
              "by 1 − p.", kind="mix-up"),
        wrong("rate 0.5", {"survives": "survives = chances >= 0.5", "scale": "return dropped * 2"},
              "Your entries are always dropped at a rate of 0.5, as nn.Dropout(p=0.5) does. Use the argument p.",
              kind="hard-coded"),
        wrong("half dropped, scaled for p", {"survives": "survives = chances >= 0.5"},
              "Half of your entries are dropped, whatever p is. Compare the random numbers with p.", kind="hard-coded"),
        wrong("randn for rand", {"chances": "chances = torch.randn_like(attn_weights)"},
              "Your entries are dropped where torch.randn is below p, so not with probability p. Use torch.rand, which "
              "is uniform between 0 and 1."),
        *at("evaluation",
            wrong("active in evaluation", "",
                  "Entries are dropped in evaluation, too. If training is False, return the weights unchanged.",
                  kind="missing step"),
            wrong("inactive in training", "return attn_weights",
                  "Nothing is dropped. If training is True, set entries to zero with probability p.",
                  credit=0.0, kind="missing step"),
            wrong("training and evaluation exchanged", "if training:\n    return attn_weights",
                  "Entries are dropped in evaluation, but not in training. It should be the other way around.",
                  kind="mix-up")),
        *at("unchanged",
            wrong("scaled in evaluation", "return attn_weights * (1 - p)",
                  "The weights are scaled in evaluation, too. Scale the survivors in training, and nothing in "
                  "evaluation.", kind="scaling"),
            wrong("enlarged in evaluation", "return attn_weights / (1 - p)",
                  "The weights are multiplied by 1/(1 − p) in evaluation, too. If training is False, return them "
                  "unchanged.", kind="scaling")),
        wrong("dropout that is not inverted", {"unchanged": "return attn_weights * (1 - p)", "scale": "return dropped"},
              "Your weights are scaled in evaluation instead of training. Inverted dropout multiplies survivors by "
              "1/(1 − p) in training and changes nothing in evaluation.", kind="convention"),
        wrong("zeros in evaluation", {"unchanged": "return torch.zeros_like(attn_weights)"},
              "Your results are zeros in evaluation. Return the weights unchanged.", kind="mix-up"),
        *at("chances",
            wrong("whole rows", "chances = torch.rand_like(attn_weights[..., :1])",
                  "Whole rows are dropped. Draw a random number for every entry, not for every row.", kind="axis"),
            wrong("whole columns", "chances = torch.rand(attn_weights.shape[-1], device=attn_weights.device)",
                  "Whole columns are dropped. Draw a random number for every entry, not for every column.",
                  kind="axis"),
            wrong("a matrix only",
                  "chances = torch.rand(attn_weights.shape[0], attn_weights.shape[1], device=attn_weights.device)",
                  "Your function works for a matrix only. Draw a random number for every weight of a batch, too: "
                  "torch.rand_like.", kind="input"),
            wrong("one mask for a batch", "chances = torch.rand(attn_weights.shape[-2:], device=attn_weights.device)",
                  "The same entries are dropped in every matrix of a batch. Draw a random number for every entry of "
                  "the batch: torch.rand_like.", credit=0.75, kind="axis"),
            wrong("small weights dropped", "chances = attn_weights",
                  "The small weights are dropped, those below p. Let chance decide: compare random numbers with p.")),
        *at("drop",
            wrong("everything dropped", "dropped = torch.zeros_like(attn_weights)",
                  "Everything is dropped. Keep an entry where its random number is at least p.", credit=0.0),
            wrong("all scaled, none dropped", "dropped = attn_weights",
                  "All weights are scaled, but none is dropped. Multiply by the mask, too.",
                  credit=0.25, kind="missing step"),
            wrong("the mask returned", "dropped = survives.to(attn_weights.dtype)",
                  "Your result is the mask. Multiply it by the weights.", credit=0.25, kind="missing step"),
            wrong("−∞ for zero", "dropped = attn_weights.masked_fill(~survives, -torch.inf)",
                  "Your dropped entries are −∞. That is for scores before softmax; dropped weights are 0.",
                  kind="mix-up")),
        wrong("a list returned",
              {"unchanged": "return attn_weights.tolist()", "scale": "return (dropped / (1 - p)).tolist()"},
              "Your result is in lists. Return a tensor with the shape of the weights.",
              credit=0.75, kind="arrangement"),
        wrong("noise instead of a mask",
              {"chances": "chances = torch.rand_like(attn_weights)", "survives": "",
               "drop": "dropped = attn_weights * chances", "scale": "return dropped"},
              "Your weights are multiplied by the random numbers themselves. Compare these with p first: an entry "
              "either stays or goes."),
        wrong("rows renormalized",
              [{"drop": "dropped = attn_weights.masked_fill(~survives, 0)",
                "scale": "return dropped / dropped.sum(-1, keepdim=True) * attn_weights.sum(-1, keepdim=True)"},
               {"drop": "dropped = attn_weights.masked_fill(~survives, 0)",
                "scale": "return dropped / dropped.sum(-1, keepdim=True).clamp(min=1e-9)"}],
              BY_THE_SUM),
        wrong("same entries in each call", {"before chances": "torch.manual_seed(123)"},
              "Each call drops the same entries, as when a function sets a seed or keeps what it has drawn. Draw new "
              "random numbers in each call.", credit=0.75, kind="hard-coded"),
        *at("chances",
            wrong("nothing left to chance", "chances = torch.zeros_like(attn_weights)\nchances[..., 0] = 1",
                  "Two calls give the same result: nothing is left to chance. Draw a new random number for each entry "
                  "in each call.", credit=0.0, kind="missing step"),
            wrong("an exact share dropped",
                  "order = torch.randperm(attn_weights.numel(), device=attn_weights.device)\n"
                  "chances = order.reshape(attn_weights.shape) / attn_weights.numel()",
                  "Each call drops the same number of entries. Decide for each entry separately, with probability p, "
                  "so that their number is random, too.", credit=0.75)),
        *gradients_lost("attn_weights", "before evaluation"),
        *another_type("attn_weights", "before unchanged", "before chances"),
    ],
)
# fmt: on
