"""The second function of exercise 25: how well each token is foretold by those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms.exact import EXACT

from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor


def no_pad(targets: Tensor, _tokens: Tensor, _pad: int | None) -> Tensor:
    return torch.zeros_like(targets, dtype=torch.bool)


def is_pad(targets: Tensor, tokens: Tensor, pad: int | None) -> Tensor:
    return no_pad(targets, tokens, pad) if pad is None else targets == pad


def loss(
    logits: Tensor,
    tokens: Tensor,
    pad: int | None = None,
    *,
    foretelling: Callable[[Tensor], Tensor] = lambda logits: logits[:, :-1],
    foretold: Callable[[Tensor], Tensor] = lambda tokens: tokens[:, 1:],
    prepare: Callable[[Tensor], Tensor] = unchanged,
    left_out: Callable[[Tensor, Tensor, int | None], Tensor] = is_pad,
    surprise: Callable[[Tensor, Tensor], Tensor] = lambda logits, targets: (
        -logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
    ),
    mean: Callable[[Tensor, Tensor], Tensor] = lambda each, counts: each[counts].mean(),
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    targets = foretold(tokens)  # (B, T − 1)
    each = surprise(prepare(foretelling(logits)), targets)  # (B, T − 1)
    counts = ~left_out(targets, tokens, pad)
    return dtype(finish(mean(each, counts)))


def sized(B: int, T: int, vocab_size: int, *pad: int) -> Callable[[torch.Generator], Inputs]:
    """Texts without padding; `pad` is a number that none has, or nothing."""

    def inputs(rng: torch.Generator) -> Inputs:
        tokens = torch.randint(vocab_size, (B, T), generator=rng)
        if pad:
            tokens = torch.where(tokens == pad[0], (tokens + 1) % vocab_size, tokens)
        return (2 * randn(rng, B, T, vocab_size), tokens, *pad)

    return inputs


def padded(
    T: int, vocab_size: int, pad: int, lengths: Sequence[int], *, before: bool = False, asked: bool = True
) -> Callable[[torch.Generator], Inputs]:
    """Texts of these lengths, filled up behind, or before."""

    def inputs(rng: torch.Generator) -> Inputs:
        logits, tokens, *_pad = sized(len(lengths), T, vocab_size, pad)(rng)
        padding = torch.arange(T) >= torch.tensor(lengths)[:, None]  # (B, T)
        tokens = tokens.masked_fill(padding.flip(1) if before else padding, pad)
        return (logits, tokens, pad) if asked else (logits, tokens)

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Logits so far apart that probabilities are 0 and 1."""
    logits, tokens, pad = padded(5, 6, 2, [5, 3, 4])(rng)
    return (1e4 * logits.sign() * torch.rand(logits.shape, generator=rng).round(decimals=2), tokens, pad)


def text_by_text(each: Tensor, counts: Tensor) -> Tensor:
    """The mean of each text, NaN for one of nothing but padding."""
    return (each * counts).sum(1) / counts.sum(1)


# By what comes of a text of nothing but padding.
MEANS_OF_MEANS: dict[str, Callable[[Tensor], Tensor]] = {
    "": lambda means: means[~means.isnan()],
    ", empty texts as 0": lambda means: means.nan_to_num(),
    ", NaN of empty texts": unchanged,
}


def mean_of_means(empty: str) -> Misconception:
    return Misconception(
        f"mean of means{empty}",
        kind="wrong formula",
        credit=0.75,
        says="Your loss is the mean of the means of the texts, so tokens of short ones count more. Take the mean of "
        "all positions at once.",
        change={"mean": lambda each, counts: MEANS_OF_MEANS[empty](text_by_text(each, counts)).mean()},
    )


next_token_loss = Exercise(
    number=25,
    assignment="transformer",
    title="A small GPT, and its loss",
    entry="next_token_loss",
    form=EXACT,
    reference=asked(loss),
    lent=loss,
    cases=[
        Case("one text", "a shift that is missing or the wrong way", sized(1, 5, 7)),
        Case("several texts", "sums in place of means", sized(3, 4, 6)),
        Case("as many texts as tokens", "texts and positions that are exchanged", sized(4, 4, 5)),
        Case("a vocabulary as large as the length", "axes that are exchanged", sized(2, 6, 6)),
        Case("two tokens", "squeezed dimensions", sized(2, 2, 3)),
        Case("padding behind", "padding that is counted, or divided by", padded(6, 7, 3, [6, 2, 4])),
        Case("token 0 as padding", "pad=0 that is taken for None", padded(5, 4, 0, [3, 5, 2, 4])),
        Case(
            "padding before",
            "positions left out for the token that stands there",
            padded(6, 5, 1, [4, 6, 2], before=True),
        ),
        Case("a text of nothing but padding", "means of nothing", padded(5, 6, 2, [4, 0, 3])),
        Case("a pad that none has", "padding where there is none", sized(3, 5, 6, 2)),
        Case("token 0, and no padding", "a padding that is always 0", padded(5, 6, 0, [3, 4], asked=False)),
        Case("logits of ±10⁴", "logarithms of 0", large, LARGE),
        *as_pieces(padded(5, 6, 4, [5, 3, 4])),
    ],
    misconceptions=[
        Misconception(
            "the first token after the last",
            kind="mix-up",
            credit=0.5,
            says="Your loss counts the last position of each text, too, with the first token of the text as its "
            "target. Nothing comes after the last token: leave that position out.",
            change={"foretelling": unchanged, "foretold": lambda tokens: tokens.roll(-1, dims=1)},
        ),
        Misconception(
            "the next text after the last token",
            kind="mix-up",
            credit=0.5,
            says="Your loss counts the last position of a text, too, with the first token of the next text as its "
            "target, as where all texts are put in one row. Each text ends with its last token: leave that position "
            "out.",
            change={
                "foretelling": lambda logits: logits.flatten(0, 1)[None, :-1],
                "foretold": lambda tokens: tokens.flatten()[None, 1:],
            },
        ),
        Misconception(
            "not shifted",
            kind="missing step",
            credit=0.25,
            says="Your loss compares the logits at each position with the token at that position, which the model has "
            "seen. "
            "Compare with the next token.",
            change={"foretelling": unchanged, "foretold": unchanged},
        ),
        Misconception(
            "shifted the wrong way",
            kind="axis",
            credit=0.25,
            says="Your loss compares the logits at each position with the token before it. Compare with the next one.",
            change={"foretelling": lambda logits: logits[:, 1:], "foretold": lambda tokens: tokens[:, :-1]},
        ),
        Misconception(
            "padding counted",
            kind="missing step",
            credit=0.5,
            says="The padding is counted in your loss. Leave out the positions whose target is pad.",
            change={"left_out": no_pad},
        ),
        Misconception(
            "divided by all positions",
            kind="wrong formula",
            credit=0.75,
            says="The padding adds nothing to your sum, but it is counted in the number that you divide by. Divide by "
            "the number of targets that are not padding.",
            change={"mean": lambda each, counts: (each * counts).sum() / counts.numel()},
        ),
        Misconception(
            "left out by the token before",
            kind="mix-up",
            credit=0.5,
            says="Your loss leaves positions out by the token that stands at them. It is the next token, the target, "
            "that counts.",
            change={"left_out": lambda targets, tokens, pad: is_pad(tokens[:, :-1], tokens, pad)},
        ),
        Misconception(
            "padding 0 taken for none",
            kind="mix-up",
            credit=0.75,
            says="In your loss, token 0 is counted even as padding, as if there were none: 0 is a token number like "
            "any other. Compare pad with None.",
            change={"left_out": lambda targets, tokens, pad: is_pad(targets, tokens, pad or None)},
        ),
        Misconception(
            "0 always left out",
            kind="hard-coded",
            credit=0.5,
            says="In your loss, token 0 is always padding. Leave out nothing where pad is None, and otherwise the "
            "token pad.",
            change={"left_out": lambda targets, tokens, pad: targets == 0},
        ),
        Misconception(
            "0 for no padding",
            kind="mix-up",
            credit=0.75,
            says="In your loss, token 0 is left out where pad is None. Then all positions should count.",
            change={"left_out": lambda targets, tokens, pad: is_pad(targets, tokens, 0 if pad is None else pad)},
        ),
        Misconception(
            "sum for mean",
            kind="wrong formula",
            credit=0.5,
            says="Your loss is a sum over all positions. Take their mean.",
            change={"mean": lambda each, counts: each[counts].sum()},
        ),
        Misconception(
            "divided by the number of texts",
            kind="wrong formula",
            credit=0.5,
            says="Your loss is the sum over positions, divided by the number of texts. Take the mean of all positions.",
            change={"mean": lambda each, counts: each[counts].sum() / len(each)},
        ),
        *map(mean_of_means, MEANS_OF_MEANS),
        Misconception(
            "not averaged",
            kind="missing step",
            credit=0.5,
            says="Your results are the losses of all positions. Return their mean, a single number.",
            change={"mean": lambda each, counts: each},
        ),
        Misconception(
            "softmax before cross-entropy",
            kind="mix-up",
            credit=0.5,
            says="Your loss is that of probabilities put into cross-entropy, which takes the softmax once more. Hand "
            "it the "
            "logits.",
            change={"prepare": lambda logits: logits.softmax(-1)},
        ),
        Misconception(
            "sign flipped",
            kind="missing step",
            credit=0.5,
            says="The sign of your loss is wrong: what is likely should cost little.",
            change={
                "surprise": lambda logits, targets: logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
            },
        ),
        Misconception(
            "no logarithm",
            kind="missing step",
            credit=0.25,
            says="Your loss is made of probabilities without the logarithm. Cross-entropy is −log of the probability.",
            change={
                "surprise": lambda logits, targets: 1 - logits.softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
            },
        ),
        Misconception(
            "logarithm of a softmax",
            kind="wrong formula",
            credit=0.75,
            says="Where logits are far apart, softmax gives 0, and the logarithm of that is −∞. F.log_softmax and "
            "F.cross_entropy take the logarithm without it.",
            change={
                "surprise": lambda logits, targets: -logits.softmax(-1).gather(-1, targets[..., None])[..., 0].log()
            },
        ),
        Misconception(
            "base two",
            kind="convention",
            credit=0.75,
            says="Your loss is in bits, as with log2. Take the natural logarithm.",
            change={"finish": lambda result: result / torch.tensor(2.0).log().to(result)},
        ),
        Misconception(
            "perplexity",
            kind="convention",
            credit=0.5,
            says="Your result is the perplexity, exp of the loss. Return the loss.",
            change={"finish": torch.exp},
        ),
        Misconception(
            "the last token only",
            kind="missing step",
            credit=0.5,
            says="Only the last token of each text counts in your loss. Every token but the first should be predicted.",
            change={"foretelling": lambda logits: logits[:, -2:-1], "foretold": lambda tokens: tokens[:, -1:]},
        ),
        Misconception(
            "softmax over positions",
            kind="axis",
            credit=0.25,
            says="The softmax in your loss runs over positions. It should run over the vocabulary, the last axis.",
            change={
                "surprise": lambda logits, targets: -logits.log_softmax(1).gather(-1, targets[..., None]).squeeze(-1)
            },
        ),
        Misconception(
            "viewed, not transposed",
            kind="arrangement",
            credit=0.25,
            says="Positions and vocabulary are mixed up in your loss, as by a view as (B, vocab_size, T). That takes a "
            "transpose.",
            change={"prepare": lambda logits: logits.reshape(len(logits), -1, logits.shape[1]).mT},
        ),
        *PIECES,
    ],
)
