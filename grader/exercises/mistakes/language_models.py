"""What goes wrong in a small language model: exercise 25."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from grader import Misconception

from . import gradients

Tensor = torch.Tensor

CONTEXT_LENGTH_NOT_TOLD = (
    "The attribute context_length is missing, or is not the argument. Keep the number in __init__."
)


def tie(module: Any) -> None:
    module.head.weight = module.token_embedding.weight


class OnlyThemselves(nn.Module):
    """Blocks that nobody finds."""

    def __init__(self, blocks: list[nn.Module]) -> None:
        super().__init__()
        self.hidden = blocks

    def __iter__(self) -> Iterator[nn.Module]:
        return iter(self.hidden)


POSITIONS = [
    Misconception(
        "no positions",
        kind="missing step",
        credit=0.5,
        says="Your results do not depend on positions. To the vector of each token, add the vector of its place.",
        change={"add": lambda vectors, positions: vectors},
    ),
    Misconception(
        "no tokens",
        kind="missing step",
        credit=0.0,
        says="Your results do not depend on the tokens. Add their vectors to those of the positions.",
        change={"add": lambda vectors, positions: positions.expand_as(vectors)},
    ),
    Misconception(
        "positions multiplied",
        kind="wrong formula",
        credit=0.5,
        says="Your results are those of positions multiplied by the vectors of tokens. Add them.",
        change={"add": lambda vectors, positions: vectors * positions},
    ),
    Misconception(
        "the same position everywhere",
        kind="hard-coded",
        credit=0.5,
        says="In your results, every token stands at position 0. The positions should be 0, 1, …, T − 1.",
        change={"places": lambda tokens: torch.zeros(tokens.shape[1], dtype=torch.long, device=tokens.device)},
    ),
    Misconception(
        "positions backwards",
        kind="axis",
        credit=0.5,
        says="In your results, positions are counted from the end. The first token stands at position 0.",
        change={"places": lambda tokens: torch.arange(tokens.shape[1], device=tokens.device).flip(0)},
    ),
    Misconception(
        "positions of texts",
        kind="axis",
        credit=0.5,
        says="In your results, all tokens of a text have one position: that of the text in the batch. Positions count "
        "the tokens of each text.",
        change={"places": lambda tokens: torch.arange(len(tokens), device=tokens.device)[:, None]},
    ),
    Misconception(
        "a position for each token of the vocabulary",
        kind="mix-up",
        credit=0.75,
        says="The table of positions has vocab_size rows. It needs context_length, one for each place.",
        change={"rows": lambda vocab_size, context_length: vocab_size},
    ),
    Misconception(
        "one position too many",
        kind="mix-up",
        credit=0.75,
        says="The table of positions has one row too many. Its rows should be the positions 0, 1, …, context_length − "
        "1.",
        change={"rows": lambda vocab_size, context_length: context_length + 1},
    ),
    Misconception(
        "vectors of tokens scaled",
        kind="convention",
        credit=0.75,
        says="Your results are those of token vectors multiplied by √d_model. The first transformer did that; here "
        "they "
        "are taken as they are.",
        change={"embed": lambda table, tokens: table(tokens) * table.embedding_dim**0.5},
    ),
]

BLOCKS = [
    Misconception(
        "one block repeated",
        kind="mix-up",
        credit=0.5,
        says="Your blocks all have the numbers of the last one, as when the same block stands in the list several "
        "times. Make a new one in every round.",
        change={"several": lambda new, count: nn.ModuleList([new()] * count) if count else nn.ModuleList()},
    ),
    Misconception(
        "blocks in a plain list",
        kind="missing step",
        credit=0.75,
        says="The blocks are in no nn.ModuleList, so nobody finds their parameters, and they would not be trained.",
        change={"several": lambda new, count: OnlyThemselves([new() for _ in range(count)])},
    ),
    Misconception(
        "one block only",
        kind="hard-coded",
        credit=0.5,
        says="There is one block, whatever num_layers is.",
        change={"count": lambda num_layers: 1},
    ),
    Misconception(
        "one block too few",
        kind="hard-coded",
        credit=0.75,
        says="There is one block fewer than num_layers.",
        change={"count": lambda num_layers: max(num_layers - 1, 0)},
    ),
    Misconception(
        "blocks without effect",
        kind="missing step",
        credit=0.25,
        says="Your results are those of a model without blocks. x should go through them, one after the other.",
        change={"through": lambda block, x, first: x},
    ),
    Misconception(
        "blocks side by side",
        kind="arrangement",
        credit=0.5,
        says="In your results, only the last block counts: each begins with the embeddings. Each should take what the "
        "one before it made.",
        change={"through": lambda block, x, first: block(first)},
    ),
    Misconception(
        "a second shortcut",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of x + block(x). Each block adds x itself: pass on what it returns.",
        change={"through": lambda block, x, first: x + block(x)},
    ),
    Misconception(
        "d_ff is d_model",
        kind="hard-coded",
        credit=0.75,
        says="The hidden layers of your blocks have d_model entries. They should have 4 · d_model.",
        change={"hidden_size": lambda d_model: d_model},
    ),
    Misconception(
        "one head",
        kind="hard-coded",
        credit=0.75,
        says="Your results are those of blocks with one head, whatever num_heads is. Pass them the argument.",
        change={"heads": lambda num_heads: 1},
    ),
    Misconception(
        "dropout not handed on",
        kind="missing step",
        credit=0.75,
        says="In training, your blocks drop nothing, whatever the rate is. Pass them the argument dropout.",
        change={"rate": lambda p: 0.0},
    ),
]

LAST = [
    Misconception(
        "last norm missing",
        kind="missing step",
        credit=0.5,
        says="Your results are those of blocks without a norm after them. norm belongs between the last block and "
        "head.",
        change={"normalise": lambda norm, x: x},
    ),
    Misconception(
        "norm before the blocks",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of a norm before the blocks instead of after them.",
        change={"normalise_first": lambda norm, x: norm(x), "normalise": lambda norm, x: x},
    ),
    Misconception(
        "norm before and after the blocks",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of the norm used twice, before the blocks and after them. It should come after "
        "them only.",
        change={"normalise_first": lambda norm, x: norm(x)},
    ),
    Misconception(
        "head with a bias",
        kind="convention",
        credit=0.75,
        says="Your head has a bias. Make it with bias=False.",
        change={"head_bias": True},
    ),
    Misconception(
        "head and embedding tied",
        kind="convention",
        credit=0.75,
        says="Your head and token_embedding share their numbers. That is a good idea elsewhere; here each has its own.",
        change={"tie": tie},
    ),
    Misconception(
        "probabilities returned",
        kind="convention",
        credit=0.5,
        says="Your results are probabilities. Return the logits as they are: the loss takes the softmax.",
        change={"after": lambda logits: torch.softmax(logits, dim=-1)},
    ),
    Misconception(
        "log-probabilities returned",
        kind="convention",
        credit=0.75,
        says="Your results are logarithms of probabilities. Return the logits as they are: the loss takes the softmax.",
        change={"after": lambda logits: torch.log_softmax(logits, dim=-1)},
    ),
    Misconception(
        "the last word only",
        kind="missing step",
        credit=0.5,
        says="Your result holds the logits of the last position only. There are logits for every position.",
        change={"after": lambda logits: logits[:, -1]},
    ),
    Misconception(
        "context_length not kept",
        kind="missing step",
        credit=0.75,
        says=CONTEXT_LENGTH_NOT_TOLD,
        change={"told": lambda context_length: None},
    ),
]

MODELS = [*POSITIONS, *BLOCKS, *LAST, gradients.EVERYTHING_DETACHED]
