"""The second function of exercise 25: how well each token is predicted from those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .mistakes.of_pieces import another_type, gradients_lost

Tensor = torch.Tensor


def next_token_loss(logits, tokens, pad=None):
    rows = logits[:, :-1].flatten(0, 1)  # (B · (T − 1), vocab_size)  #: rows
    targets = tokens[:, 1:].flatten()  # (B · (T − 1),)  #: targets
    ignored = -100 if pad is None else pad  #: ignored
    loss = F.cross_entropy(rows, targets, ignore_index=ignored)  #: loss
    return loss  #: result


def sized(B: int, T: int, vocab_size: int, *pad: int) -> Callable[[torch.Generator], Inputs]:
    """Texts without padding; `pad` is a token that does not occur, or left out."""

    def inputs(rng: torch.Generator) -> Inputs:
        tokens = torch.randint(vocab_size, (B, T), generator=rng)
        if pad:
            tokens = torch.where(tokens == pad[0], (tokens + 1) % vocab_size, tokens)
        return (2 * randn(rng, B, T, vocab_size), tokens, *pad)

    return inputs


def padded(
    T: int, vocab_size: int, pad: int, lengths: Sequence[int], *, before: bool = False, with_pad: bool = True
) -> Callable[[torch.Generator], Inputs]:
    """Texts of these lengths, with padding after or before them."""

    def inputs(rng: torch.Generator) -> Inputs:
        logits, tokens, *_pad = sized(len(lengths), T, vocab_size, pad)(rng)
        padding = torch.arange(T) >= torch.tensor(lengths)[:, None]  # (B, T)
        tokens = tokens.masked_fill(padding.flip(1) if before else padding, pad)
        return (logits, tokens, pad) if with_pad else (logits, tokens)

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Logits so far apart that probabilities are 0 and 1."""
    logits, tokens, pad = padded(5, 6, 2, [5, 3, 4])(rng)
    return (1e4 * logits.sign() * torch.rand(logits.shape, generator=rng).round(decimals=2), tokens, pad)


# fmt: off
loss_exercise = Exercise(
    number=25,
    assignment="transformer",
    title="A small GPT, and its loss",
    solution=next_token_loss,
    form=EXACT,
    lent=next_token_loss,
    cases=[
        Case("one text", "a shift that is missing or the wrong way", sized(1, 5, 7)),
        Case("several texts", "sums in place of means", sized(3, 4, 6)),
        Case("as many texts as tokens", "texts and positions that are exchanged", sized(4, 4, 5)),
        Case("a vocabulary as large as the length", "axes that are exchanged", sized(2, 6, 6)),
        Case("two tokens", "squeezed dimensions", sized(2, 2, 3)),
        Case("padding behind", "padding that is counted, or divided by", padded(6, 7, 3, [6, 2, 4])),
        Case("token 0 as padding", "pad=0 that is taken for None", padded(5, 4, 0, [3, 5, 2, 4])),
        Case("padding before", "positions left out for the token that stands there",
             padded(6, 5, 1, [4, 6, 2], before=True)),
        Case("a text of nothing but padding", "means of nothing", padded(5, 6, 2, [4, 0, 3])),
        Case("a pad that none has", "padding where there is none", sized(3, 5, 6, 2)),
        Case("token 0, and no padding", "a padding that is always 0", padded(5, 6, 0, [3, 4], with_pad=False)),
        Case("logits of ±10⁴", "logarithms of 0", large, LARGE),
        *as_pieces(padded(5, 6, 4, [5, 3, 4])),
    ],
    mistakes=[
        wrong("the first token after the last",
              {"rows": "rows = logits.flatten(0, 1)", "targets": "targets = tokens.roll(-1, dims=1).flatten()"},
              "Your loss also counts the last position of each text, with the first token of that text as its target. "
              "Nothing comes after the last token: leave that position out.", kind="mix-up"),
        wrong("the next text after the last token",
              {"rows": "rows = logits.flatten(0, 1)[:-1]", "targets": "targets = tokens.flatten()[1:]"},
              "Your loss also counts the last position of a text, with the first token of the next text as its target, "
              "as when all texts are put in one row. Each text ends with its last token: leave that position out.",
              kind="mix-up"),
        wrong("not shifted", {"rows": "rows = logits.flatten(0, 1)", "targets": "targets = tokens.flatten()"},
              "Your loss compares the logits at each position with the token at that position, which the model has "
              "already seen. Compare them with the next token.", credit=0.25, kind="missing step"),
        wrong("shifted the wrong way",
              {"rows": "rows = logits[:, 1:].flatten(0, 1)", "targets": "targets = tokens[:, :-1].flatten()"},
              "Your loss compares the logits at each position with the token before it. Compare them with the next "
              "one.", kind="axis"),
        wrong("padding counted", {"ignored": "ignored = -100"},
              "Your loss counts the padding. Leave out the positions whose target is pad.", kind="missing step"),
        wrong("divided by all positions",
              {"loss": 'loss = F.cross_entropy(rows, targets, ignore_index=ignored, reduction="none").mean()'},
              "Padding adds nothing to your sum, but it still counts in the number that you divide by. Divide by the "
              "number of targets that are not padding.", credit=0.75),
        *at("ignored",
            wrong("left out by the token before",
                  "ignored = -100\n"
                  "if pad is not None:\n"
                  "    kept = tokens[:, :-1].flatten() != pad\n"
                  "    rows, targets = rows[kept], targets[kept]",
                  "Your loss leaves out positions by the token that is there. Leave them out by their target, the next "
                  "token.", kind="mix-up"),
            wrong("padding 0 taken for none", "ignored = pad or -100",
                  "In your loss, token 0 counts even when it is the padding, as if there were no padding. 0 is a token "
                  "number like any other: compare pad with None.", credit=0.75, kind="mix-up"),
            wrong("0 always left out", "ignored = 0",
                  "In your loss, token 0 is always padding. If pad is None, leave out nothing. Otherwise, leave out "
                  "only the token pad.", kind="hard-coded"),
            wrong("0 for no padding", "ignored = pad or 0",
                  "In your loss, token 0 is left out when pad is None. Count all positions in that case.",
                  credit=0.75, kind="mix-up")),
        *at("loss",
            wrong("sum for mean", 'loss = F.cross_entropy(rows, targets, ignore_index=ignored, reduction="sum")',
                  "Your loss is the sum over all positions. Take the mean."),
            wrong("divided by the number of texts",
                  'loss = F.cross_entropy(rows, targets, ignore_index=ignored, reduction="sum") / len(tokens)',
                  "Your loss is the sum over positions, divided by the number of texts. Take the mean over all "
                  "positions."),
            wrong("mean of means",
                  ["losses = F.cross_entropy(rows, targets, ignore_index=ignored, reduction='none')\n"
                   "sums = losses.view(len(tokens), -1).sum(dim=1)\n"
                   "counts = (targets != ignored).view(len(tokens), -1).sum(dim=1)\n"
                   "loss = (sums / counts)[counts > 0].mean()",
                   "losses = F.cross_entropy(rows, targets, ignore_index=ignored, reduction='none')\n"
                   "sums = losses.view(len(tokens), -1).sum(dim=1)\n"
                   "counts = (targets != ignored).view(len(tokens), -1).sum(dim=1)\n"
                   "loss = (sums / counts.clamp(min=1)).mean()",
                   "losses = F.cross_entropy(rows, targets, ignore_index=ignored, reduction='none')\n"
                   "sums = losses.view(len(tokens), -1).sum(dim=1)\n"
                   "counts = (targets != ignored).view(len(tokens), -1).sum(dim=1)\n"
                   "loss = (sums / counts).mean()"],
                  "Your loss is the mean of each text's mean, so tokens of short texts count more. Take the mean of "
                  "all positions at once.", credit=0.75),
            wrong("not averaged", 'loss = F.cross_entropy(rows, targets, reduction="none").view(len(tokens), -1)',
                  "Your results are the losses of all positions. Return their mean, a single number.",
                  kind="missing step")),
        wrong("softmax before cross-entropy", {"after rows": "rows = torch.softmax(rows, dim=-1)"},
              "Your loss looks as if cross-entropy had been given probabilities. It takes the softmax itself: give it "
              "the logits.", kind="mix-up"),
        wrong("sign flipped", {"after loss": "loss = -loss"},
              "The sign of your loss is wrong: a likely token should have a small loss.", kind="missing step"),
        *at("loss",
            wrong("no logarithm", "loss = 1 + F.nll_loss(torch.softmax(rows, dim=-1), targets, ignore_index=ignored)",
                  "Your loss uses probabilities without the logarithm. Cross-entropy is −log of the probability.",
                  credit=0.25, kind="missing step"),
            wrong("logarithm of a softmax",
                  "loss = F.nll_loss(torch.softmax(rows, dim=-1).log(), targets, ignore_index=ignored)",
                  "Where logits are far apart, softmax gives 0, and the logarithm of that is −∞. Use F.log_softmax or "
                  "F.cross_entropy, which avoid this.", credit=0.75)),
        *at("result",
            wrong("base two", "return loss / torch.log(torch.tensor(2.0))",
                  "Your loss is in bits, as with log2. Take the natural logarithm.", credit=0.75, kind="convention"),
            wrong("perplexity", "return torch.exp(loss)",
                  "Your result is the perplexity, exp of the loss. Return the loss.", kind="convention")),
        wrong("the last token only", {"rows": "rows = logits[:, -2]", "targets": "targets = tokens[:, -1]"},
              "In your loss, only the last token of each text counts. Predict every token but the first.",
              kind="missing step"),
        wrong("softmax over positions",
              {"loss": "rows = torch.log_softmax(logits[:, :-1], dim=1).flatten(0, 1)\n"
                       "loss = F.nll_loss(rows, targets, ignore_index=ignored)"},
              "In your loss, softmax runs over positions. It should run over the vocabulary, the last axis.",
              kind="axis"),
        wrong("viewed, not transposed",
              {"rows": "B, T, V = logits.shape\n"
                       "rows = logits[:, :-1].reshape(B, V, T - 1).transpose(1, 2).flatten(0, 1)"},
              "In your loss, positions and vocabulary are mixed up, as when logits are viewed as (B, vocab_size, T). "
              "Use a transpose for that.", kind="arrangement"),
        *gradients_lost("loss"),
        *another_type("logits", "before rows"),
    ],
)
# fmt: on
