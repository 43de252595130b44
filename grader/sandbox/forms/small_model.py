"""Functions that are given a small language model: they write with it, or train it.

The model can tell whether it is in training. Model, optimizer and random numbers are made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from grader.sandbox.forms.exact import Function, Inputs, Observed, Options

Tensor = torch.Tensor
ROWS = 300  # texts that show whether random numbers are the same; it takes more to see how they are distributed
OPTIMIZERS = {"SGD": torch.optim.SGD, "AdamW": torch.optim.AdamW}


def small_shapes(vocab_size: int, d_model: int, context_length: int) -> dict[str, tuple[int, ...]]:
    """The shapes of all parameters of a `SmallModel`, by name."""
    return {
        "tokens.weight": (vocab_size, d_model),
        "positions.weight": (context_length, d_model),
        "quiet.weight": (d_model, d_model),
        "quiet.bias": (d_model,),
        "head.weight": (vocab_size, d_model),
    }


class SmallModel(nn.Module):
    """A model in which each position sees the mean of those before. In training, dropout removes one part entirely."""

    context_length: int  # students' code may read what is named here

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        vocab_size, d_model = weights["tokens.weight"].shape
        self.context_length = len(weights["positions.weight"])
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(self.context_length, d_model)
        self.quiet = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(1.0)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(weights[name])
        first = weights["tokens.weight"]
        self.to(first.device, first.dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: (B, T). Returns (B, T, vocab_size)."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) * (1 + self.positions(positions)).cos()  # (B, T, d_model)
        x = x + x.cumsum(1) / (positions[:, None] + 1)
        x = x + self.dropout(self.quiet(x).sin())
        return self.head(x.tanh())  # type: ignore[no-any-return]


class _Watched(SmallModel):
    """A small model that notes whether it was called with gradients on, and whether in training mode."""

    keeps = trains = False

    def forward(self, tokens: Tensor) -> Tensor:
        self.trains |= self.training
        self.keeps |= torch.is_grad_enabled() and any(parameter.requires_grad for parameter in self.parameters())
        return super().forward(tokens)


def put_to_write(generate: Function, inputs: Inputs) -> Observed:
    """What `observe_texts` sees of a student's function."""
    return observe_texts(generate, *inputs)


def observe_texts(
    generate: Function, weights: Mapping[str, Tensor], tokens: Tensor, count: int, options: Options
) -> Observed:
    """Note how all texts go on; and how a few do, twice with the same random numbers and once with others.

    `options` say whether the model is in training before ("train"), which seed its generator has ("seed"; none: there
    is no generator), and hold what else is given by name ("named").
    """
    model = _Watched(weights)
    texts: dict[str, object] = {}
    before, left_off = torch.is_grad_enabled(), False
    for name, rows, shift in (("text", len(tokens), 0), ("few", ROWS, 0), ("again", ROWS, 0), ("other", ROWS, 1)):
        model.train(bool(options["train"])).requires_grad_()
        beginning, keywords = tokens[:rows].clone(), dict(options["named"])
        if "seed" in options:
            keywords["generator"] = torch.Generator(device=tokens.device).manual_seed(options["seed"] + shift)
        with torch.set_grad_enabled(before):  # the student's function may turn them off
            texts[name] = generate(model, beginning, count, **keywords)
            left_off |= before and not torch.is_grad_enabled()
        if not torch.equal(beginning, tokens[:rows]):
            return {"changes_input": True}
    return {
        "changes_input": False,
        "outputs": texts,
        "train": model.training,
        "trains": model.trains,
        "modules": all(part.training == bool(options["train"]) for part in model.modules() if part is not model),
        "frozen": not all(parameter.requires_grad for parameter in model.parameters()),
        "keeps": model.keeps,
        "left_off": left_off,
    }


def put_to_train(step: Function, inputs: Inputs) -> Observed:
    """What `_observe_training` sees of a student's function."""
    return _observe_training(step, *inputs)


def _observe_training(
    step: Function,
    weights: Mapping[str, Tensor],
    old_gradients: Mapping[str, Tensor],
    batches: Sequence[Tensor],
    options: Options,
) -> Observed:
    """Take one step for each batch, and note what the steps return and the weights after them.

    `old_gradients` are there already. `options` name the optimizer and its settings, say whether the
    model is in training ("train") before each step, and hold `max_norm`, if that is given.
    """
    model = SmallModel(weights)
    settings = {name: options[name] for name in ("lr", "momentum", "weight_decay") if name in options}
    optimizer = OPTIMIZERS[options["optimizer"]](model.parameters(), **settings)
    for name, parameter in model.named_parameters():
        parameter.grad = old_gradients[name].clone() if old_gradients else None
    losses = []
    for batch in batches:
        model.train(bool(options["train"]))
        tokens = batch.clone()
        losses.append(step(model, optimizer, tokens, *([options["max_norm"]] if "max_norm" in options else [])))
        if not torch.equal(tokens, batch):
            return {"changes_input": True}
    return {
        "changes_input": False,
        "floats": all(isinstance(loss, float) for loss in losses),
        "losses": [_number(loss) for loss in losses],
        "outputs": {name: parameter.detach() for name, parameter in model.named_parameters()},
    }


def _number(loss: object) -> object:
    """The value of a loss, if it is a single number."""
    return loss.detach().cpu() if isinstance(loss, Tensor) and loss.numel() == 1 else loss
