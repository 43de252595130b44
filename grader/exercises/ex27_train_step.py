"""Exercise 27: one step of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch
from torch import nn

from grader import Case, Exercise, InParts, Inputs, Observation, at, randn, wrong

from .next_token_loss import next_token_loss
from .small_model import SmallModel, small_shapes

Tensor = torch.Tensor

NOT_A_FLOAT = (
    "Your function does not return a float. A tensor keeps everything that it was computed from: return loss.item()."
)
CHANGED = "Your function changes the tokens. Leave them unchanged."

VOCABULARY, D_MODEL, CONTEXT = 6, 5, 7


def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()  #: mode
    loss = next_token_loss(model(tokens), tokens)  #: loss
    optimizer.zero_grad()  #: clear
    loss.backward()  #: backward
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)  #: clip
    optimizer.step()  #: step
    return loss.item()  #: result


def observe_training(
    function: Callable[..., Any],
    weights: Mapping[str, Tensor],
    old_gradients: Mapping[str, Tensor],
    batches: Sequence[Tensor],
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Take one step for each batch, and note what the steps return and the weights after them.

    `old_gradients` are there already. `options` name the optimizer and its settings, say whether the
    model is in training ("train") before each step, and hold `max_norm`, if that is given.
    """
    model = SmallModel(weights)
    settings = {name: options[name] for name in ("lr", "momentum", "weight_decay") if name in options}
    optimizer = getattr(torch.optim, options["optimizer"])(model.parameters(), **settings)
    for name, parameter in model.named_parameters():
        parameter.grad = old_gradients[name].clone() if old_gradients else None
    arguments = [options["max_norm"]] if "max_norm" in options else []
    losses = []
    for batch in batches:
        model.train(bool(options["train"]))
        tokens = batch.clone()
        losses.append(function(model, optimizer, tokens, *arguments))
        if not torch.equal(tokens, batch):
            return {"changes_input": True}
    return {
        "changes_input": False,
        "floats": all(isinstance(loss, float) for loss in losses),
        "losses": list(map(number_of, losses)),
        "outputs": {name: parameter.detach() for name, parameter in model.named_parameters()},
    }


def number_of(loss: object) -> object:
    """The value of a loss, if it is a single number."""
    return loss.detach().cpu() if isinstance(loss, Tensor) and loss.numel() == 1 else loss


class TrainingSeen(Observation, frozen=True):
    """What each step returned, and the weights after all; neither if an input was changed."""

    changes_input: bool
    floats: bool = False  # whether all losses are floats
    losses: list[Any] = msgspec.field(default_factory=list)
    weights: dict[str, Tensor] = msgspec.field(name="outputs", default_factory=dict)

    def __post_init__(self) -> None:
        if not self.changes_input and not self.losses:
            raise ValueError("there is no loss")


class Training(InParts):
    """A step of training, taken several times."""

    lendable = False

    def returned_nothing(self, observation: TrainingSeen) -> bool:
        """Whether a step returned None."""
        return any(loss is None for loss in observation.losses)

    def result(self, answer: object) -> Any:
        """The losses."""
        return answer.get("loss") if isinstance(answer, dict) else answer


def read(observation: TrainingSeen, *_inputs: Any) -> dict[str, Any]:
    """Weights come first: code that gets them right can only go wrong in the loss it returns."""
    if observation.changes_input:
        return {"input": CHANGED}
    return {
        "input": "",
        "weights": {f"{name} after three steps": weight for name, weight in observation.weights.items()},
        "loss": observation.losses,
        "returned": "" if observation.floats else NOT_A_FLOAT,
    }


def sized(
    *, most: float | None = None, size: float = 1.0, left_over: bool = False, train: bool = True, **optimizer: Any
) -> Callable[[torch.Generator], Inputs]:
    """Three batches for a model with weights of this size."""

    def inputs(rng: torch.Generator) -> Inputs:
        extra = int(left_over)  # sizes must differ between cases
        shapes = small_shapes(VOCABULARY + extra, D_MODEL + extra, CONTEXT + extra)
        weights = {name: size * randn(rng, *shape) for name, shape in shapes.items()}
        before = {name: randn(rng, *shape) for name, shape in shapes.items()} if left_over else {}
        batches = [torch.randint(VOCABULARY, (B, T), generator=rng) for B, T in ((3, 5), (2, 7), (4, 4))]
        options = {"optimizer": "SGD", "lr": 0.5, "train": train, **optimizer}
        return (weights, before, batches, options | ({} if most is None else {"max_norm": most}))

    return inputs


# fmt: off
exercise = Exercise(
    number=27,
    assignment="transformer",
    title="A training step",
    solution=train_step,
    form=Training(TrainingSeen),
    probe=observe_training,
    read=read,
    cases=[
        Case("plain descent", "steps that are missing", sized(most=10.0, lr=0.1)),
        Case("small gradients", "gradients that are made longer", sized(most=5.0, lr=0.1, size=0.3)),
        Case("gradients left over", "gradients that are not cleared, or too late",
             sized(most=10.0, lr=0.1, left_over=True), once=True),
        Case("clipped much", "gradients that are not clipped, or each by itself", sized(most=0.05, lr=4.0), once=True),
        Case("clipped a little", "a square in place of the norm", sized(most=0.1, lr=1.0, size=0.3), once=True),
        Case("clipped by default", "a default that is not there", sized(size=3.0), once=True),
        Case("clipped, with gradients left over", "clipping too early", sized(most=0.2, left_over=True, lr=2.0),
             once=True),
        Case("in evaluation before", "a mode that is not set", sized(most=10.0, lr=0.1, train=False), once=True),
        Case("momentum", "an own step in place of the optimizer's", sized(most=1.5, lr=0.2, momentum=0.8), once=True),
        Case("AdamW", "an optimizer that is not used", sized(most=1.0, optimizer="AdamW", lr=0.02, weight_decay=0.1),
             once=True),
    ],
    mistakes=[
        wrong("gradients not cleared", {"clear": ""},
              "In your weights, gradients of earlier steps are added to those of this one. Clear them before backward.",
              kind="missing step"),
        wrong("gradients cleared too late", {"clear": "", "after step": "optimizer.zero_grad()"},
              "Your first step uses gradients that were there before. Clear them before backward, not only after the "
              "step.", credit=0.75, kind="arrangement"),
        wrong("gradients set to zero before the step",
              {"clear": "", "before step": "optimizer.zero_grad(set_to_none=False)"},
              "When your optimizer takes its step, all gradients are zeros, and only what it does without them is "
              "done, like the decay of weights. Clear gradients before backward, not between backward and the step.",
              credit=0.25, kind="missing step"),
        *at("step",
            wrong("nothing learned", "",
                  "Your weights are the same after three steps: the optimizer takes no step, or has no gradients when "
                  "it does. Call backward and then step, with nothing between them that clears the gradients.",
                  credit=0.25, kind="missing step"),
            wrong("two steps", "optimizer.step()\noptimizer.step()",
                  "In your results, the optimizer takes two steps each time. Take only one.", kind="mix-up")),
        wrong("uphill", {"backward": "(-loss).backward()"},
              "Your weights go uphill: the loss grows. Call backward on the loss itself."),
        *at("clip",
            wrong("not clipped", "",
                  "When the step is taken, gradients are not clipped. Clip them between backward and the step.",
                  kind="missing step"),
            wrong("values clipped", "nn.utils.clip_grad_value_(model.parameters(), max_norm)",
                  "Each entry of your gradients is clipped on its own, which changes their direction. Clip the norm of "
                  "all of them together.", kind="mix-up"),
            wrong("each parameter clipped",
                  "for parameter in model.parameters():\n    nn.utils.clip_grad_norm_(parameter, max_norm)",
                  "The gradient of each parameter is clipped on its own. Clip the norm of all gradients together.",
                  credit=0.75, kind="mix-up"),
            wrong("always brought to max_norm",
                  "gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]\n"
                  "norm = nn.utils.get_total_norm(gradients)\n"
                  "for gradient in gradients:\n"
                  "    gradient.mul_(max_norm / (norm + 1e-6))",
                  "Your gradients always have the norm max_norm. Leave shorter ones unchanged.", credit=0.75),
            wrong("clipped by the square",
                  "gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]\n"
                  "square = nn.utils.get_total_norm(gradients) ** 2\n"
                  "for gradient in gradients:\n"
                  "    gradient.mul_((max_norm / (square + 1e-6)).clamp(max=1))",
                  "In your results, gradients are clipped by the sum of their squares. The norm is the root of that: "
                  "clip by the norm.", credit=0.75, kind="missing step"),
            wrong("norms added up",
                  "gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]\n"
                  "norm = sum(gradient.norm() for gradient in gradients)\n"
                  "for gradient in gradients:\n"
                  "    gradient.mul_((max_norm / (norm + 1e-6)).clamp(max=1))",
                  "In your results, the norm of all gradients is the sum of each parameter's norm. Sum the squares of "
                  "all entries, and take the root of that.", credit=0.75, kind="mix-up"),
            wrong("max_norm without effect", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
                  "Gradients are always clipped to a norm of 1. Use max_norm.", credit=0.75, kind="hard-coded")),
        *at("mode",
            wrong("mode not set", "",
                  "If the model starts in evaluation mode, it learns in evaluation mode. Call model.train() first.",
                  credit=0.75, kind="missing step"),
            wrong("in evaluation mode", "model.eval()",
                  "The model learns in evaluation mode, where dropout is off. Call model.train() before the model "
                  "learns.", kind="mix-up")),
        *at("loss",
            wrong("shifted twice", "loss = next_token_loss(model(tokens[:, :-1]), tokens[:, 1:])",
                  "Your results predict the token after the next one, as when tokens are shifted before "
                  "next_token_loss shifts them again. Leave the shifting to next_token_loss.", kind="mix-up"),
            wrong("not shifted", "loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())",
                  "Your results predict each token from itself, which the model has already seen. Use next_token_loss, "
                  "which compares with the next token.", credit=0.25, kind="missing step"),
            wrong("last token left out", "loss = next_token_loss(model(tokens[:, :-1]), tokens[:, :-1])",
                  "In your results, the last token of each text is never predicted. Give all tokens to the model and "
                  "to the loss.", credit=0.75, kind="mix-up")),
        *at("result",
            wrong("loss after the step",
                  "with torch.no_grad():\n    return next_token_loss(model(tokens), tokens).item()",
                  "You return the loss after the step. Return the loss before it, which the gradients belong to.",
                  credit=0.75, kind="arrangement"),
            wrong("loss as a tensor", "return loss",
                  NOT_A_FLOAT, credit=0.75, kind="convention")),
    ],
)
# fmt: on
