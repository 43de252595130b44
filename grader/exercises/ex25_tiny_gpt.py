"""Exercise 25: a small GPT, and its loss on the next token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs
from grader.kit.module_cases import LATER_CHANGED, LONGER, OTHERS_CHANGED, SECOND_CALL, draw_weights, in_float64, trial
from grader.kit.module_readings import reader
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.kit.pieces import FLOAT64
from grader.model.forms.module import MODULE

from .ex24_block import EPS, TINY, TransformerBlock
from .given_attention import block_shapes
from .mistakes import language_models, modules
from .next_token_loss import next_token_loss

Tensor = torch.Tensor
Block = Callable[[], nn.Module]


class Table(nn.Embedding):
    """An embedding whose vectors are not drawn, since they are loaded anyway."""

    def reset_parameters(self) -> None:
        with torch.no_grad():
            torch.arange(self.weight.numel(), out=self.weight.view(-1))


class TinyGPT(nn.Module):
    """The reference, in steps that a misconception can change."""

    rows: Any = staticmethod(lambda vocab_size, context_length: context_length)
    heads: Any = staticmethod(lambda num_heads: num_heads)
    hidden_size: Any = staticmethod(lambda d_model: 4 * d_model)
    rate: Any = staticmethod(lambda p: p)
    count: Any = staticmethod(lambda num_layers: num_layers)
    several: Any = staticmethod(lambda new, count: nn.ModuleList(new() for _ in range(count)))
    head_bias: Any = False
    tie: Any = staticmethod(lambda module: None)
    told: Any = staticmethod(lambda context_length: context_length)
    begin: Any = staticmethod(lambda module: None)
    embed: Any = staticmethod(lambda table, tokens: table(tokens))
    places: Any = staticmethod(lambda tokens: torch.arange(tokens.shape[1], device=tokens.device))
    add: Any = staticmethod(lambda vectors, positions: vectors + positions)
    normalise_first: Any = staticmethod(lambda norm, x: x)
    through: Any = staticmethod(lambda block, x, first: block(x))
    normalise: Any = staticmethod(lambda norm, x: norm(x))
    score: Any = staticmethod(lambda head, x: head(x))
    after: Any = staticmethod(lambda logits: logits)
    finish: Any = staticmethod(lambda logits: logits)
    dtype: Any = staticmethod(lambda logits: logits)

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        context_length: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        heads, d_ff = self.heads(num_heads), self.hidden_size(d_model)
        rate = self.rate(dropout)
        self.token_embedding = Table(vocab_size, d_model)
        self.position_embedding = Table(self.rows(vocab_size, context_length), d_model)
        self.blocks = self.several(lambda: TransformerBlock(d_model, heads, d_ff, rate), self.count(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = Linear(d_model, vocab_size, bias=self.head_bias)
        self.context_length = self.told(context_length)
        self.tie(self)
        self.begin(self)

    def forward(self, tokens: Tensor) -> Any:
        vectors = self.embed(self.token_embedding, tokens)  # (B, T, d_model)
        positions = self.position_embedding(self.places(tokens))  # (T, d_model)
        x = first = self.normalise_first(self.norm, self.add(vectors, positions))
        for block in self.blocks:
            x = self.through(block, x, first)
        logits = self.after(self.score(self.head, self.normalise(self.norm, x)))  # (B, T, vocab_size)
        return self.dtype(self.finish(logits))


def shapes(vocab_size: int, d_model: int, num_layers: int, context_length: int) -> dict[str, list[int]]:
    """Of all parameters, by name."""
    named = {"token_embedding.weight": [vocab_size, d_model], "position_embedding.weight": [context_length, d_model]}
    for i in range(num_layers):
        named |= {f"blocks.{i}.{name}": shape for name, shape in block_shapes(d_model, 4 * d_model).items()}
    return named | {"norm.weight": [d_model], "norm.bias": [d_model], "head.weight": [vocab_size, d_model]}


def drawn(rng: torch.Generator, of: Mapping[str, list[int]]) -> dict[str, Tensor]:
    """Embeddings, norms and biases as large as anything else."""
    return {
        name: weight * weight.shape[-1] ** 0.5 if weight.dim() == 1 or "embedding" in name else weight
        for name, weight in draw_weights(rng, of).items()
    }


def some_tokens(rng: torch.Generator, vocab_size: int, *shape: int) -> Tensor:
    return torch.randint(vocab_size, shape, generator=rng)


def sized(
    B: int, T: int, vocab_size: int, d_model: int, layers: int, heads: int, context: int, p: float = 0.0, **how: Any
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        tokens = some_tokens(rng, vocab_size, B, T)
        others = (tokens + 1 + some_tokens(rng, vocab_size - 1, B, T)) % vocab_size  # another one everywhere
        calls = {"output": [tokens], SECOND_CALL: [tokens]}
        if T > 1:
            calls[LATER_CHANGED] = [torch.cat([tokens[:, :-1], others[:, -1:]], dim=1)]
        if B > 1:
            calls[OTHERS_CHANGED] = [torch.cat([tokens[:1], others[1:]])]
        if context > T:
            calls[LONGER] = [some_tokens(rng, vocab_size, B, context)]
        arguments = [vocab_size, d_model, layers, heads, context, *([p] if p else [])]
        weights = drawn(rng, shapes(vocab_size, d_model, layers, context))
        return trial(arguments, weights, calls, numbers=["context_length"], **how)

    return inputs


def of_tiny_numbers(rng: torch.Generator) -> Inputs:
    """Embeddings whose variance is about as small as eps, and no layer before the norm that adds anything."""
    arguments, weights, calls, how = sized(2, 3, 7, 5, 0, 1, 4)(rng)
    tiny = {name: TINY * weight if "embedding" in name else weight for name, weight in weights.items()}
    return (arguments, tiny, calls, how)


def all_dropped(rng: torch.Generator) -> Inputs:
    """By the blocks. Whether embeddings that are zero are dropped as well, as in many models, nobody sees."""
    arguments, weights, calls, how = sized(2, 5, 6, 4, 2, 1, 5, p=1.0, train=True)(rng)
    zero = {name: 0 * weight if "embedding" in name else weight for name, weight in weights.items()}
    return (arguments, zero, calls, how)


reference = observing(TinyGPT)
read_module = reader(reference, causal=True)


def read(seen: Mapping[str, Any], arguments: Any, weights: Any, calls: Any, how: Any) -> dict[str, Any]:
    """As of any module, which looks for a vector for each word: there are such of one entry."""
    (tokens,) = calls["output"]
    as_vectors = {"output": [tokens[..., None].to(weights["head.weight"])]}
    parts = read_module(seen, arguments, weights, as_vectors, how)
    if any(name.startswith("blocks.") and name not in weights for name in seen["parameters"]):
        parts["parameters"] = parts["parameters"] or "There are more blocks than num_layers says."
    if "numbers" not in seen:
        return parts
    is_told = seen["numbers"]["context_length"] == arguments[4]
    return parts | {"context_length": "" if is_told else language_models.CONTEXT_LENGTH_NOT_TOLD}


exercise = Exercise(
    number=25,
    assignment="transformer",
    title="A small GPT, and its loss",
    entry="TinyGPT",
    form=MODULE,
    glance=glancing(TinyGPT),
    reference=reference,
    read=read,
    cases=[
        Case("one sentence", "missing gradients", sized(1, 4, 7, 4, 2, 2, 4, gradients=1)),
        Case("several sentences", "sentences that are mixed", sized(3, 4, 5, 6, 2, 3, 6, gradients=1)),
        Case("as many sentences as words", "positions of sentences", sized(4, 4, 9, 4, 1, 2, 5)),
        Case("three layers", "layers that are the same one, or not used", sized(2, 3, 6, 4, 3, 1, 7)),
        Case("a vocabulary as large as the vectors", "a head the wrong way round", sized(2, 5, 6, 6, 2, 2, 8)),
        Case("a context as long as the vocabulary", "tables that are exchanged", sized(2, 4, 8, 4, 1, 2, 8)),
        Case("a single word", "squeezed dimensions", sized(2, 1, 5, 4, 2, 2, 3)),
        Case("no layers", "blocks that are always there", sized(2, 3, 6, 4, 0, 2, 4)),
        Case("tiny numbers", "another eps of the last norm, or at another place", of_tiny_numbers, EPS),
        Case("not in training", "dropout that is always active", sized(2, 4, 7, 6, 2, 2, 5, p=1.0)),
        Case("in training, at a rate of 0", "a rate that is not the argument", sized(2, 4, 5, 4, 2, 2, 6, train=True)),
        Case("in training, at a rate of 1", "dropout that is missing in blocks", all_dropped),
        Case("float64 weights", "a result of another type", in_float64(sized(2, 4, 7, 4, 1, 2, 5)), FLOAT64),
    ],
    misconceptions=[*language_models.MODELS, *modules.BESIDE_NUMBERS],
    others=(next_token_loss,),
)
