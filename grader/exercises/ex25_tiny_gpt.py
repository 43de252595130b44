"""Exercise 25: a small GPT, and its loss on the next token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from grader import MODULE, BuildSeen, Case, ClassCase, Exercise, ModuleSeen, at, wrong
from grader.kit.module_cases import LATER_CHANGED, LONGER, OTHERS_CHANGED, SECOND_CALL, draw_weights, in_float64
from grader.kit.module_readings import reader
from grader.kit.pieces import FLOAT64

from .ex24_block import EPS, TINY, TransformerBlock
from .given_attention import block_shapes
from .mistakes import any_module
from .next_token_loss import loss_exercise

Tensor = torch.Tensor

TIED = "Your head and token_embedding share their numbers. That is a good idea elsewhere, but here each has its own."
CONTEXT_LENGTH_NOT_TOLD = (
    "The attribute context_length is missing, or is not the argument. Store the argument in __init__."
)


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, context_length, dropout=0.0):
        super().__init__()
        self.context_length = context_length  #: told
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)  #: table
        blocks = [TransformerBlock(d_model, num_heads, 4 * d_model, dropout) for _ in range(num_layers)]  #: blocks
        self.blocks = nn.ModuleList(blocks)  #: kept
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)  #: head

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)  #: places
        x = self.token_embedding(tokens) + self.position_embedding(positions)  # (B, T, d_model)  #: embed
        for block in self.blocks:  #: loop
            x = block(x)  #: through
        x = self.norm(x)  #: norm
        logits = self.head(x)  # (B, T, vocab_size)  #: logits
        return logits  #: result


def shapes(vocab_size: int, d_model: int, num_layers: int, context_length: int) -> dict[str, list[int]]:
    """The shapes of all parameters, by name."""
    parameters = {
        "token_embedding.weight": [vocab_size, d_model],
        "position_embedding.weight": [context_length, d_model],
    }
    for i in range(num_layers):
        parameters |= {f"blocks.{i}.{name}": shape for name, shape in block_shapes(d_model, 4 * d_model).items()}
    return parameters | {"norm.weight": [d_model], "norm.bias": [d_model], "head.weight": [vocab_size, d_model]}


def drawn(rng: torch.Generator, of: Mapping[str, list[int]]) -> dict[str, Tensor]:
    """Weights with embeddings, norms and biases as large as the rest."""
    return {
        name: weight * weight.shape[-1] ** 0.5 if weight.dim() == 1 or "embedding" in name else weight
        for name, weight in draw_weights(rng, of).items()
    }


def some_tokens(rng: torch.Generator, vocab_size: int, *shape: int) -> Tensor:
    return torch.randint(vocab_size, shape, generator=rng)


def sized(
    B: int, T: int, vocab_size: int, d_model: int, layers: int, heads: int, context: int, p: float = 0.0, **options: Any
) -> Callable[[torch.Generator], ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        tokens = some_tokens(rng, vocab_size, B, T)
        other_tokens = (tokens + 1 + some_tokens(rng, vocab_size - 1, B, T)) % vocab_size  # differ everywhere
        calls = {"output": [tokens], SECOND_CALL: [tokens]}
        if T > 1:
            calls[LATER_CHANGED] = [torch.cat([tokens[:, :-1], other_tokens[:, -1:]], dim=1)]
        if B > 1:
            calls[OTHERS_CHANGED] = [torch.cat([tokens[:1], other_tokens[1:]])]
        if context > T:
            calls[LONGER] = [some_tokens(rng, vocab_size, B, context)]
        arguments = [vocab_size, d_model, layers, heads, context, *([p] if p else [])]
        weights = drawn(rng, shapes(vocab_size, d_model, layers, context))
        return ClassCase(arguments, weights, calls, numbers=["context_length"], **options)

    return inputs


def of_tiny_numbers(rng: torch.Generator) -> ClassCase:
    """Embeddings whose variance is about as small as eps, and no blocks before the norm."""
    case = sized(2, 3, 7, 5, 0, 1, 4)(rng)
    tiny = {name: TINY * weight if "embedding" in name else weight for name, weight in case.weights.items()}
    return replace(case, weights=tiny)


def all_dropped(rng: torch.Generator) -> ClassCase:
    """The blocks drop everything. Embeddings are zero, since many models drop them as well, which must not matter."""
    case = sized(2, 5, 6, 4, 2, 1, 5, p=1.0, train=True)(rng)
    zero = {name: 0 * weight if "embedding" in name else weight for name, weight in case.weights.items()}
    return replace(case, weights=zero)


read_module = reader(TinyGPT, causal=True)


def read(observation: BuildSeen | ModuleSeen, arguments: Any, weights: Any, calls: Any, options: Any) -> dict[str, Any]:
    """Read like any module. That expects a vector for each word, so tokens become vectors with one entry."""
    (tokens,) = calls["output"]
    as_vectors = {"output": [tokens[..., None].to(weights["head.weight"])]}
    readings = read_module(observation, arguments, weights, as_vectors, options)
    if isinstance(observation, BuildSeen):
        return readings
    if any(name.startswith("blocks.") and name not in weights for name in observation.parameters):
        readings["parameters"] = readings["parameters"] or "There are more than num_layers blocks."
    if not observation.numbers:
        return readings
    is_told = observation.numbers["context_length"] == arguments[4]
    return readings | {"context_length": "" if is_told else CONTEXT_LENGTH_NOT_TOLD}


# fmt: off
exercise = Exercise(
    number=25,
    assignment="transformer",
    title="A small GPT, and its loss",
    solution=TinyGPT,
    form=MODULE,
    read=read,
    cases=[
        Case("one sentence", "missing gradients", sized(1, 4, 7, 4, 2, 2, 4, gradients=1)),
        Case("several sentences", "sentences that are mixed", sized(3, 4, 5, 6, 2, 3, 6, gradients=1)),
        Case("as many sentences as words", "positions of sentences", sized(4, 4, 9, 4, 1, 2, 5)),
        Case("three layers", "layers that are the same one, or not used", sized(2, 3, 6, 4, 3, 1, 7)),
        Case("a vocabulary as large as the vectors", "a head the wrong way around", sized(2, 5, 6, 6, 2, 2, 8)),
        Case("a context as long as the vocabulary", "tables that are exchanged", sized(2, 4, 8, 4, 1, 2, 8)),
        Case("a single word", "squeezed dimensions", sized(2, 1, 5, 4, 2, 2, 3)),
        Case("no layers", "blocks that are always there", sized(2, 3, 6, 4, 0, 2, 4)),
        Case("tiny numbers", "another eps of the last norm, or at another place", of_tiny_numbers, EPS),
        Case("not in training", "dropout that is always active", sized(2, 4, 7, 6, 2, 2, 5, p=1.0)),
        Case("in training, at a rate of 0", "a rate that is not the argument", sized(2, 4, 5, 4, 2, 2, 6, train=True)),
        Case("in training, at a rate of 1", "dropout that is missing in blocks", all_dropped),
        Case("float64 weights", "a result of another type", in_float64(sized(2, 4, 7, 4, 1, 2, 5)), FLOAT64),
    ],
    mistakes=[
        *at("embed",
            wrong("no positions", (" + self.position_embedding(positions)", ""),
                  "Your results do not depend on positions. To the vector of each token, add the vector of its "
                  "position.", kind="missing step"),
            wrong("no tokens", "x = self.position_embedding(positions).expand(len(tokens), -1, -1)",
                  "Your results do not depend on the tokens. Add their vectors to those of the positions.",
                  credit=0.0, kind="missing step"),
            wrong("positions multiplied", (" + ", " * "),
                  "Your results look as if the vectors of tokens and positions were multiplied. Add them.")),
        *at("places",
            wrong("the same position everywhere", "positions = torch.zeros_like(tokens[0])",
                  "In your results, every token is at position 0. The positions should be 0, 1, …, T − 1.",
                  kind="hard-coded"),
            wrong("positions backwards", "positions = torch.arange(tokens.shape[1], device=tokens.device).flip(0)",
                  "In your results, positions are counted from the end. The first token is at position 0.",
                  kind="axis"),
            wrong("positions of texts", "positions = torch.arange(len(tokens), device=tokens.device)[:, None]",
                  "In your results, all tokens of a text have the same position: the place of the text in the batch. "
                  "Count the tokens of each text instead.", kind="axis")),
        *at("table",
            wrong("a position for each token of the vocabulary", ("context_length", "vocab_size"),
                  "The table of positions has vocab_size rows. It needs context_length rows, one for each position.",
                  credit=0.75, kind="mix-up"),
            wrong("one position too many", ("context_length", "context_length + 1"),
                  "The table of positions has one row too many. It needs rows for the positions 0, 1, …, "
                  "context_length − 1.", credit=0.75, kind="mix-up")),
        wrong("vectors of tokens scaled", {"embed": ("(tokens)", "(tokens) * self.head.in_features ** 0.5")},
              "Your results look as if the token vectors were multiplied by √d_model. The first transformer did that. "
              "Here, use them unchanged.", credit=0.75, kind="convention"),
        wrong("one block repeated", {"blocks": (" for _ in range(num_layers)]", "] * num_layers")},
              "Your blocks all have the numbers of the last one, as when the same block is in the list several times. "
              "Make a new one for each.", kind="mix-up"),
        wrong("blocks in a plain list", {"kept": "self.blocks = blocks"},
              "The blocks are not in an nn.ModuleList, so their parameters are not found, and they would not be "
              "trained.", credit=0.75, kind="missing step"),
        *at("blocks",
            wrong("one block only", ("num_layers", "1"),
                  "There is one block, whatever num_layers is. Make num_layers of them.", kind="hard-coded"),
            wrong("one block too few", ("num_layers", "num_layers - 1"),
                  "There is one block fewer than num_layers. Make num_layers of them.",
                  credit=0.75, kind="hard-coded")),
        wrong("blocks without effect", {"loop": ""},
              "Your results are those of a model without blocks. Pass x through them, one after the other.",
              credit=0.25, kind="missing step"),
        wrong("blocks side by side", {"before loop": "first = x", "through": "x = block(first)"},
              "In your results, only the last block counts: each one starts from the embeddings. Give each block the "
              "output of the one before.", kind="arrangement"),
        wrong("a second shortcut", {"through": "x = x + block(x)"},
              "Your results look like those of x + block(x). Each block already adds x itself: pass on what it "
              "returns.", kind="arrangement"),
        *at("blocks",
            wrong("d_ff is d_model", ("4 * d_model", "d_model"),
                  "The hidden layers of your blocks have d_model entries. They should have 4 · d_model.",
                  credit=0.75, kind="hard-coded"),
            wrong("one head", ("num_heads", "1"),
                  "Your results look as if the blocks had one head, whatever num_heads is. Pass num_heads on to them.",
                  credit=0.75, kind="hard-coded"),
            wrong("dropout not handed on", ("dropout", "0.0"),
                  "In training, your blocks drop nothing, whatever the rate is. Pass the argument dropout on to them.",
                  credit=0.75, kind="missing step")),
        wrong("last norm missing", {"norm": ""},
              "Your results look as if there were no norm after the blocks. Put norm between the last block and head.",
              kind="missing step"),
        wrong("norm after every block", {"through": "x = self.norm(block(x))", "norm": ""},
              "In your results, norm is applied after every block. Apply it once, after the last.",
              kind="arrangement"),
        wrong("norm before the blocks", {"after embed": "x = self.norm(x)", "norm": ""},
              "Your results look as if norm came before the blocks. Put it after them.", kind="arrangement"),
        wrong("norm before and after the blocks", {"after embed": "x = self.norm(x)"},
              "Your results look as if norm were used twice, before the blocks and after them. Use it only after them.",
              kind="arrangement"),
        wrong("head with a bias", {"head": (", bias=False", "")},
              "Your head has a bias. Make it with bias=False.", credit=0.75, kind="convention"),
        *at("after head",
            wrong("head and embedding tied",
                  ["self.head.weight = self.token_embedding.weight",
                   "self.head.weight.data = self.token_embedding.weight.data"],
                  TIED, credit=0.75, kind="convention")),
        *at("logits",
            wrong("embedding as head", "logits = x @ self.token_embedding.weight.T",
                  "Your logits come from the weights of token_embedding, and head has no effect. Here each has its own "
                  "weights: use head.", credit=0.75, kind="convention"),
            wrong("embedding as head, and no layer head",
                  "logits = x @ self.token_embedding.weight.T",
                  "Your module has no layer called head: the weights of token_embedding are in its place. That is a "
                  "good idea elsewhere, but here each has its own.", credit=0.75, kind="convention",
                  also={"head": ""})),
        *at("after logits",
            wrong("probabilities returned", "logits = torch.softmax(logits, dim=-1)",
                  "Your results are probabilities. Return the logits themselves: the loss takes the softmax.",
                  kind="convention"),
            wrong("log-probabilities returned", "logits = torch.log_softmax(logits, dim=-1)",
                  "Your results are logarithms of probabilities. Return the logits themselves: the loss takes the "
                  "softmax.", credit=0.75, kind="convention"),
            wrong("the last word only", "logits = logits[:, -1]",
                  "Your result has logits for the last position only. Return logits for every position.",
                  kind="missing step")),
        wrong("context_length not kept", {"told": ""},
              CONTEXT_LENGTH_NOT_TOLD,
              credit=0.75, kind="missing step"),
        wrong("everything detached", {"result": "return logits.detach()"},
              "No gradient gets through, as when the computation uses no_grad, detach or the like. Compute "
              "the result from the weights, with operations that keep gradients.", kind="gradient"),
        *any_module.of_any("head", "logits"),
    ],
    others=(loss_exercise,),
)
# fmt: on
