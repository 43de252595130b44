"""Exercise 27: one step of training."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.model.forms.training import TRAINING
from grader.sandbox.forms.training import trained
from grader.sandbox.small_model import small_shapes

from .next_token_loss import loss as next_token_loss

Tensor = torch.Tensor

NOT_A_FLOAT = "Your function does not return a float. A tensor keeps all that was computed: return loss.item()."
CHANGED = "Your function changes the tokens. Leave them as they are."

VOCABULARY, D_MODEL, CONTEXT = 6, 5, 7


def train_step(
    model: nn.Module,
    optimizer: Any,
    tokens: Tensor,
    max_norm: float = 1.0,
    *,
    mode: Callable[[nn.Module], Any] = lambda model: model.train(),
    clear: Callable[[Any], Any] = lambda optimizer: optimizer.zero_grad(),
    measure: Callable[[nn.Module, Tensor], Tensor] = lambda model, tokens: next_token_loss(model(tokens), tokens),
    backward: Callable[[Tensor], Any] = lambda loss: loss.backward(),
    clip: Callable[[nn.Module, float], Any] = lambda model, most: nn.utils.clip_grad_norm_(model.parameters(), most),
    step: Callable[[Any], Any] = lambda optimizer: optimizer.step(),
    after: Callable[[Any], Any] = lambda optimizer: None,
    returned: Callable[[Tensor, nn.Module, Tensor], Any] = lambda loss, model, tokens: loss.item(),
) -> Any:
    mode(model)
    clear(optimizer)
    loss = measure(model, tokens)
    backward(loss)
    clip(model, max_norm)
    step(optimizer)
    after(optimizer)
    return returned(loss, model, tokens)


def reference(*inputs: Any, **changes: Any) -> dict[str, Any]:
    return trained(functools.partial(train_step, **changes), *inputs)


reference.__wrapped__ = train_step  # type: ignore[attr-defined]  # its source is the one that must not leak


def read(seen: Mapping[str, Any], *_inputs: Any) -> dict[str, Any]:
    """The weights first: whoever has them right returns another loss at most."""
    if seen["changes_input"]:
        return {"input": CHANGED}
    return {
        "input": "",
        "weights": {f"{name} after three steps": weight for name, weight in seen["outputs"].items()},
        "loss": seen["losses"],
        "returned": "" if seen["floats"] else NOT_A_FLOAT,
    }


def sized(
    *, most: float | None = None, size: float = 1.0, left_over: bool = False, train: bool = True, **optimizer: Any
) -> Callable[[torch.Generator], Inputs]:
    """Three batches for a model with weights of this size."""

    def inputs(rng: torch.Generator) -> Inputs:
        more = int(left_over)  # so that no size is the same in all cases
        shapes = small_shapes(VOCABULARY + more, D_MODEL + more, CONTEXT + more)
        weights = {name: size * randn(rng, *shape) for name, shape in shapes.items()}
        before = {name: randn(rng, *shape) for name, shape in shapes.items()} if left_over else {}
        batches = [torch.randint(VOCABULARY, (B, T), generator=rng) for B, T in ((3, 5), (2, 7), (4, 4))]
        how = {"optimizer": "SGD", "lr": 0.5, "train": train, **optimizer}
        return (weights, before, batches, how | ({} if most is None else {"max_norm": most}))

    return inputs


def clip_values(model: nn.Module, most: float) -> None:
    nn.utils.clip_grad_value_(model.parameters(), most)


def clip_each(model: nn.Module, most: float) -> None:
    for parameter in model.parameters():
        if parameter.grad is not None:
            nn.utils.clip_grad_norm_([parameter], most)


def bring_to(model: nn.Module, most: float) -> None:
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    length = torch.stack([gradient.norm() for gradient in gradients]).norm()
    for gradient in gradients:
        gradient.mul_(most / (length + 1e-6))


def by_the_square(model: nn.Module, most: float) -> None:
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    square = torch.stack([gradient.square().sum() for gradient in gradients]).sum()
    for gradient in gradients:
        gradient.mul_((most / (square + 1e-6)).clamp(max=1))


def not_shifted(model: nn.Module, tokens: Tensor) -> Tensor:
    return nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def loss_again(_loss: Tensor, model: nn.Module, tokens: Tensor) -> float:
    with torch.no_grad():
        return float(next_token_loss(model(tokens), tokens))


def twice(optimizer: Any) -> None:
    optimizer.step()
    optimizer.step()


exercise = Exercise(
    number=27,
    assignment="transformer",
    title="A step of training",
    entry="train_step",
    form=TRAINING,
    reference=reference,
    read=read,
    cases=[
        Case("plain descent", "steps that are missing", sized(most=10.0, lr=0.1)),
        Case("small gradients", "gradients that are made longer", sized(most=5.0, lr=0.1, size=0.3)),
        Case(
            "gradients left over",
            "gradients that are not cleared, or too late",
            sized(most=10.0, lr=0.1, left_over=True),
            once=True,
        ),
        Case("clipped much", "gradients that are not clipped, or each by itself", sized(most=0.05, lr=4.0), once=True),
        Case("clipped a little", "a square in place of the norm", sized(most=0.1, lr=1.0, size=0.3), once=True),
        Case("clipped by default", "a default that is not there", sized(size=3.0), once=True),
        Case(
            "clipped, with gradients left over",
            "clipping too early",
            sized(most=0.2, left_over=True, lr=2.0),
            once=True,
        ),
        Case("in evaluation before", "a mode that is not set", sized(most=10.0, lr=0.1, train=False), once=True),
        Case("momentum", "an own step in place of the optimizer's", sized(most=1.5, lr=0.2, momentum=0.8), once=True),
        Case(
            "AdamW",
            "an optimizer that is not used",
            sized(most=1.0, optimizer="AdamW", lr=0.02, weight_decay=0.1),
            once=True,
        ),
    ],
    misconceptions=[
        Misconception(
            "gradients not cleared",
            kind="missing step",
            credit=0.5,
            says="Gradients of the steps before are added to those of this one in your weights. Clear them before "
            "backward.",
            change={"clear": lambda optimizer: None},
        ),
        Misconception(
            "gradients cleared too late",
            kind="arrangement",
            credit=0.75,
            says="Your first step uses gradients that were there before. Clear them before backward, not after the "
            "step only.",
            change={"clear": lambda optimizer: None, "after": lambda optimizer: optimizer.zero_grad()},
        ),
        Misconception(
            "nothing learned",
            kind="missing step",
            credit=0.25,
            says="Your weights are the same after three steps. After backward, the optimizer must take a step, with "
            "the gradients that backward made.",
            change={"step": lambda optimizer: None},
        ),
        Misconception(
            "two steps",
            kind="mix-up",
            credit=0.5,
            says="In your results, the optimizer takes two steps each time. It should take one.",
            change={"step": twice},
        ),
        Misconception(
            "uphill",
            kind="wrong formula",
            credit=0.5,
            says="Your weights go uphill: the loss grows. Call backward on the loss itself.",
            change={"backward": lambda loss: (-loss).backward()},
        ),
        Misconception(
            "not clipped",
            kind="missing step",
            credit=0.5,
            says="Gradients are not clipped when the step is taken. Clip them between backward and the step.",
            change={"clip": lambda model, most: None},
        ),
        Misconception(
            "values clipped",
            kind="mix-up",
            credit=0.5,
            says="Every entry of your gradients is clipped on its own, which changes their direction. Clip the norm of "
            "all of them together.",
            change={"clip": clip_values},
        ),
        Misconception(
            "each parameter clipped",
            kind="mix-up",
            credit=0.75,
            says="The gradient of each parameter is clipped on its own. Clip the norm of all gradients together.",
            change={"clip": clip_each},
        ),
        Misconception(
            "always brought to max_norm",
            kind="wrong formula",
            credit=0.75,
            says="Your gradients always have the norm max_norm. Those that are shorter should stay as they are.",
            change={"clip": bring_to},
        ),
        Misconception(
            "clipped by the square",
            kind="missing step",
            credit=0.75,
            says="Gradients are clipped by the sum of their squares in your results. The norm is the root of it.",
            change={"clip": by_the_square},
        ),
        Misconception(
            "max_norm without effect",
            kind="hard-coded",
            credit=0.75,
            says="Gradients are always clipped to a norm of 1. Take max_norm.",
            change={"clip": lambda model, most: nn.utils.clip_grad_norm_(model.parameters(), 1.0)},
        ),
        Misconception(
            "mode not set",
            kind="missing step",
            credit=0.75,
            says="If the model comes in evaluation mode, it learns in evaluation mode. Call model.train() first.",
            change={"mode": lambda model: None},
        ),
        Misconception(
            "in evaluation mode",
            kind="mix-up",
            credit=0.5,
            says="The model learns in evaluation mode, where no dropout is active. Learning is done after "
            "model.train().",
            change={"mode": lambda model: model.eval()},
        ),
        Misconception(
            "shifted twice",
            kind="mix-up",
            credit=0.5,
            says="Your results predict the token after the next: logits of all but the last token, and tokens without "
            "the first. next_token_loss does the shifting itself.",
            change={"measure": lambda model, tokens: next_token_loss(model(tokens[:, :-1]), tokens[:, 1:])},
        ),
        Misconception(
            "not shifted",
            kind="missing step",
            credit=0.25,
            says="Your results predict each token from itself, which the model has seen. The loss is that of "
            "next_token_loss, which compares with the token after it.",
            change={"measure": not_shifted},
        ),
        Misconception(
            "last token left out",
            kind="mix-up",
            credit=0.75,
            says="The last token of each text is never predicted in your results. Give model and loss all tokens.",
            change={"measure": lambda model, tokens: next_token_loss(model(tokens[:, :-1]), tokens[:, :-1])},
        ),
        Misconception(
            "loss after the step",
            kind="arrangement",
            credit=0.75,
            says="You return the loss after the step. Return the one before it, which the gradients belong to.",
            change={"returned": loss_again},
        ),
        Misconception(
            "loss as a tensor",
            kind="convention",
            credit=0.75,
            says=NOT_A_FLOAT,
            change={"returned": lambda loss, model, tokens: loss},
        ),
    ],
)
