"""Exercise 26: writing with a model, token by token."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch

from grader import Case, Exercise, InParts, Inputs, Observation, at, randn, wrong

from .mistakes import of_writing
from .small_model import SmallModel, small_shapes

Tensor = torch.Tensor

VOCABULARY, D_MODEL, CONTEXT = 5, 4, 6
ROWS = 3000  # texts that begin alike, enough to show the distribution of draws
FEW = 300  # texts that show whether random numbers are the same
MOST_LIKELY = 0.8  # any one text is less likely, so equal draws cannot be chance
NEVER = 1e-9  # how often right draws are this far from the expected ones, or farther


def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    before = model.training
    model.eval()  #: enter
    for _ in range(count):
        context = tokens[:, -model.context_length :]  #: crop
        with torch.no_grad():  #: ask
            logits = model(context)  # (B, T, vocab_size)
        logits = logits[:, -1]  # (B, vocab_size)  #: last
        if top_k is not None:  #: top_k
            smallest = logits.topk(top_k).values[:, -1:]  #: smallest
            logits = logits.masked_fill(logits < smallest, -math.inf)
        if temperature == 0:  #: greedy
            new = logits.argmax(dim=-1, keepdim=True)  #: best
        else:
            chances = torch.softmax(logits / temperature, dim=-1)  #: chances
            new = torch.multinomial(chances, 1, generator=generator)  #: draw
        tokens = torch.cat([tokens, new], dim=1)
    model.train(before)  #: leave
    return tokens  #: result


class WatchedModel(SmallModel):
    """A small model that notes whether it was called with gradients on, and whether in training mode."""

    keeps = trains = False

    def forward(self, tokens: Tensor) -> Tensor:
        self.trains |= self.training
        self.keeps |= torch.is_grad_enabled() and any(parameter.requires_grad for parameter in self.parameters())
        return super().forward(tokens)


def observe_texts(
    function: Callable[..., Any], weights: Mapping[str, Tensor], tokens: Tensor, count: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Note how all texts go on; and how a few do, twice with the same random numbers and once with others.

    `options` say whether the model is in training before ("train"), which seed its generator has ("seed"; none: there
    is no generator), and hold what else is given by name ("named").
    """
    model = WatchedModel(weights)
    texts: dict[str, object] = {}
    before, left_off = torch.is_grad_enabled(), False
    for name, rows, shift in (("text", len(tokens), 0), ("few", FEW, 0), ("again", FEW, 0), ("other", FEW, 1)):
        model.train(bool(options["train"])).requires_grad_()
        beginning, keywords = tokens[:rows].clone(), dict(options["named"])
        if "seed" in options:
            keywords["generator"] = torch.Generator(device=tokens.device).manual_seed(options["seed"] + shift)
        with torch.set_grad_enabled(before):  # the student's function may turn them off
            texts[name] = function(model, beginning, count, **keywords)
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


class GenerationSeen(Observation, frozen=True):
    """The texts, and the state of the model; neither if an input was changed."""

    changes_input: bool
    outputs: dict[str, Any] = msgspec.field(default_factory=dict)
    train: bool = False  # in which mode the model is left
    trains: bool = False  # whether it was in training when it was called
    modules: bool = False  # whether its parts are left as they were
    frozen: bool = False  # whether a parameter is left frozen
    keeps: bool = False  # whether gradients were kept
    left_off: bool = False  # whether they are left switched off

    def __post_init__(self) -> None:
        if not self.changes_input and self.outputs.keys() != {"text", "few", "again", "other"}:
            raise ValueError("texts are missing, or there are others")


class Generation(InParts):
    """Texts: greedy ones are compared, others read by their distribution."""

    lendable = False

    def rules_broken(self, answer: object) -> Mapping[str, str]:
        """All sentences from reading the answer: each is about something different."""
        if not isinstance(answer, dict):
            return {}
        sentences = {name: part for name, part in answer.items() if name != "tokens" and isinstance(part, str)}
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def result(self, answer: object) -> Any:
        """The tokens written."""
        return answer.get("tokens") if isinstance(answer, dict) else answer


def logits_of_all_texts(
    weights: Mapping[str, Tensor], prompt: Tensor, count: int, *, training: bool = False
) -> list[Tensor]:
    """The logits after the prompt (T,) and each continuation of 0, 1, … tokens: (texts, V), in the order of
    `itertools.product`."""
    model, vocabulary = SmallModel(weights).train(training), len(weights["tokens.weight"])
    texts, logits_by_length = prompt[None], []
    with torch.no_grad():
        for _ in range(count):
            logits_by_length.append(model(texts[:, -model.context_length :])[:, -1].double())
            new = torch.arange(vocabulary).repeat(len(texts))[:, None]
            texts = torch.cat([texts.repeat_interleave(vocabulary, 0), new], dim=1)
    return logits_by_length


def expected_shares(logits: Sequence[Tensor], arguments: Mapping[str, Any], way: str = "") -> Tensor:
    """The probability of each text if drawn in one of `of_writing.WAYS`, in the order of the last logits (texts, V)."""
    settings = (arguments.get("temperature", 1.0), arguments.get("top_k"))
    shares = torch.ones(1, dtype=torch.float64)
    for step_logits in logits:
        shares = (shares[:, None] * of_writing.WAYS[way](step_logits, *settings).softmax(-1)).flatten()
    return shares


def fits(counts: Tensor, shares: Tensor) -> bool:
    """Whether draws match these probabilities, by a chi-squared test that pools all rare texts in one class."""
    if bool((counts[shares == 0] > 0).any()):
        return False
    expected = shares * counts.sum()
    common = expected >= 10
    pairs = [(counts[common], expected[common]), (counts[~common].sum()[None], expected[~common].sum()[None])]
    actual, expected = (torch.cat(each) for each in zip(*pairs, strict=True))
    actual, expected = actual[expected > 0], expected[expected > 0]
    far = ((actual - expected).square() / expected).sum().item()
    free = max(len(expected) - 1, 1)
    by_chance = torch.special.gammaincc(torch.tensor(free / 2).double(), torch.tensor(far / 2).double())
    return bool(by_chance > NEVER)


def never_come(counts: Tensor, shares: Tensor) -> bool:
    """Whether the least likely texts never come, and are too probable together for that to be chance."""
    rarest_first = shares.argsort()
    left_out = shares[rarest_first] * (counts[rarest_first].cumsum(0) == 0)
    return bool(torch.exp(-left_out.sum() * counts.sum()) < NEVER)


def read(observation: GenerationSeen, weights: Any, tokens: Tensor, count: int, options: Any) -> dict[str, Any]:
    if observation.changes_input:
        return {"input": of_writing.CHANGED}
    text, sample, repeated, other_seed = (observation.outputs[name] for name in ("text", "few", "again", "other"))
    readings: dict[str, Any] = {"input": "", "form": of_writing.wrong_form(text, tokens, count)}
    if readings["form"]:
        return readings
    temperature, top_k = options["named"].get("temperature", 1.0), options["named"].get("top_k")
    if temperature == 0 or top_k == 1:
        readings["tokens"] = text
        readings["greedy"] = "" if top_k == 1 else of_writing.wrong_greedy(sample, repeated, other_seed)
    else:
        readings["chance"] = of_writing.wrong_chance(text, sample, repeated, other_seed, has_seed="seed" in options)
        readings["distribution"] = wrong_distribution(text, weights, tokens, count, options)
        if readings["distribution"] and observation.trains:  # a mistake of its own: judge draws by that mode
            readings["distribution"] = wrong_distribution(text, weights, tokens, count, options, training=True)
    readings["evaluation"] = of_writing.TRAINS if observation.trains else ""
    if observation.keeps:
        readings["gradients"] = of_writing.KEEPS
    else:
        readings["gradients"] = of_writing.LEFT_OFF if observation.left_off else ""
    readings["mode"] = of_writing.MODE if observation.train != bool(options["train"]) else ""
    readings["modules"] = "" if observation.modules or readings["mode"] else of_writing.MODULES
    readings["frozen"] = of_writing.FROZEN if observation.frozen else ""
    return readings


def wrong_distribution(
    text: Tensor, weights: Any, tokens: Tensor, count: int, options: Any, *, training: bool = False
) -> str:
    """A sentence on how the texts are distributed; empty if they are as they should be."""
    vocabulary = len(weights["tokens.weight"])
    places = vocabulary ** torch.arange(count - 1, -1, -1)
    numbers = (text[:, -count:].long() * places).sum(1)
    if bool((text < 0).any() or (text >= vocabulary).any()):
        return of_writing.WRONG_CHANCES
    counts = torch.bincount(numbers, minlength=vocabulary**count).double()
    logits = logits_of_all_texts(weights, tokens[0], count, training=training)  # the same for all ways to draw
    shares = expected_shares(logits, options["named"])
    missing = never_come(counts, shares)
    if missing and options["named"].get("top_k") is None:
        return of_writing.TRUNCATED if fits(counts, shares * (counts > 0)) else of_writing.WRONG_CHANCES
    ways = (way for way in of_writing.WAYS if fits(counts, expected_shares(logits, options["named"], way)))
    return next((way for way in ways if way or not missing), of_writing.WRONG_CHANCES)


def is_open(weights: Mapping[str, Tensor], tokens: Tensor, count: int, options: Mapping[str, Any]) -> bool:
    """Whether no text is so likely that draws may all be the same."""
    logits = logits_of_all_texts(weights, tokens[0], count)
    return bool(expected_shares(logits, options["named"]).max() < MOST_LIKELY)


def sized(
    B: int,
    T: int,
    count: int,
    *,
    alike: bool = False,
    train: bool = True,
    seed: bool = True,
    words: int = VOCABULARY,
    **arguments: Any,
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        while True:
            case = any_inputs(rng)
            if not alike or is_open(*case):
                return case

    def any_inputs(rng: torch.Generator) -> Inputs:
        extra = T % 2  # sizes must differ between cases
        shapes = small_shapes(words + extra, D_MODEL + extra, CONTEXT + extra)
        weights = {name: randn(rng, *shape) for name, shape in shapes.items()}
        if words > VOCABULARY:  # with so many, no token may be rare
            weights["head.weight"] /= 8
        tokens = torch.randint(words + extra, (B, T), generator=rng)
        seeded = {"seed": int(torch.randint(1000, (), generator=rng))} if seed else {}
        options = {"train": train, "named": arguments, **seeded}
        return (weights, tokens[:1].expand(B, T).clone() if alike else tokens, count, options)

    return inputs


# fmt: off
exercise = Exercise(
    number=26,
    assignment="transformer",
    title="Writing",
    solution=generate,
    form=Generation(GenerationSeen),
    probe=observe_texts,
    read=read,
    cases=[
        Case("greedy, one text", "a mode that is not set", sized(1, 3, 3, temperature=0.0)),
        Case("greedy, several texts", "texts that are mixed", sized(4, 2, 4, temperature=0.0, train=False)),
        Case("greedy, beyond the context", "texts that are not cropped", sized(3, 4, 9, temperature=0.0)),
        Case("greedy, from a long text", "the first words in place of the last", sized(2, 9, 3, temperature=0)),
        Case("greedy, among the best three", "top_k of greedy texts", sized(3, 3, 4, temperature=0.0, top_k=3)),
        Case("greedy, nothing to write", "a token too many", sized(2, 3, 0, temperature=0.0)),
        Case("the best one only", "top_k=1", sized(3, 3, 4, top_k=1)),
        Case("drawn", "draws that are none", sized(ROWS, 3, 2, alike=True), once=True),
        Case("drawn without a generator", "a generator that must be there", sized(ROWS, 2, 1, alike=True, seed=False),
             once=True),
        Case("drawn from many", "a top_k of its own", sized(ROWS, 4, 1, alike=True, words=64, train=False), once=True),
        Case("cold", "a temperature that is not used", sized(ROWS, 4, 1, alike=True, temperature=0.6), once=True),
        Case("hot", "a temperature that is multiplied with",
             sized(ROWS, 2, 2, alike=True, temperature=2.0, train=False), once=True),
        Case("the best three", "top_k that is not used", sized(ROWS, 3, 1, alike=True, top_k=3), once=True),
        Case("the best two, hot", "both at once", sized(ROWS, 5, 2, alike=True, temperature=1.7, top_k=2), once=True),
        Case("all are the best", "top_k as large as the vocabulary",
             sized(ROWS, 3, 1, alike=True, top_k=VOCABULARY + 1), once=True),
    ],
    mistakes=[
        *at("chances",
            wrong("temperature without effect", (" / temperature", ""), of_writing.NO_TEMPERATURE, kind="missing step"),
            wrong("temperature multiplied", (" / ", " * "), of_writing.MULTIPLIED, credit=0.75)),
        wrong("top_k without effect", {"top_k": ""}, of_writing.NO_TOP_K, kind="missing step"),
        wrong("neither temperature nor top_k", {"top_k": "", "chances": (" / temperature", "")},
              of_writing.NEITHER, credit=0.25, kind="missing step"),
        wrong("one token more", {"smallest": "smallest = logits.topk(min(top_k + 1, logits.shape[-1])).values[:, -1:]"},
              of_writing.ONE_MORE, credit=0.75, kind="mix-up"),
        wrong("one token fewer",
              {"smallest": "smallest = logits.topk(top_k).values[:, -1:]\n"
                           "logits = logits.masked_fill(logits == smallest, -math.inf)"},
              of_writing.ONE_FEWER, kind="mix-up"),
        wrong("the least likely",
              {"top_k": "",
               "before chances": "if top_k is not None:\n"
                                 "    largest = logits.topk(top_k, largest=False).values[:, -1:]\n"
                                 "    logits = logits.masked_fill(logits > largest, -math.inf)"},
              of_writing.WORST, kind="axis"),
        *at("chances",
            wrong("all equally likely", "chances = (logits > -math.inf).float()",
                  of_writing.ALIKE, credit=0.25, kind="missing step"),
            wrong("softmax twice", "chances = torch.softmax(torch.softmax(logits / temperature, dim=-1), dim=-1)",
                  of_writing.TWICE),
            wrong("softmax over texts", ("dim=-1", "dim=0"),
                  "Your probabilities sum to one over the texts, for each token. Take the softmax over the vocabulary: "
                  "dim=-1.", kind="axis")),
        wrong("places for tokens", {"before chances": "if top_k is not None:\n    logits = logits.topk(top_k).values"},
              of_writing.PLACES, kind="mix-up"),
        wrong("texts go on alike, always greedy", {"greedy": "new = logits.argmax(dim=-1, keepdim=True)"},
              of_writing.ALL_ALIKE, kind="missing step"),
        wrong("texts go on alike with top_k", {"smallest": "smallest = logits.topk(top_k).values[:, :1]"},
              "With top_k, texts that begin alike stay alike, as if only one token were possible. Any of the best "
              "top_k may come: leave out only what is less than the smallest of them.", kind="mix-up"),
        *at("greedy",
            wrong("never greedy",
                  "logits = logits / temperature if temperature > 0 else logits\n"
                  "new = torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=generator)",
                  of_writing.NEVER_GREEDY, kind="missing step"),
            wrong("divided by a temperature of 0",
                  "chances = torch.softmax(logits / temperature, dim=-1)\n"
                  "new = torch.multinomial(chances, 1, generator=generator)",
                  "At temperature 0, your function divides by zero, so there are no probabilities to draw from. Take "
                  "the most likely token there: argmax.", kind="missing step")),
        wrong("the least likely at temperature 0",
              {"before top_k": "worst = logits.argmin(dim=-1, keepdim=True)", "best": "new = worst"},
              "At temperature 0, your function takes the least likely token. Take the most likely one: argmax.",
              kind="axis"),
        *at("draw",
            wrong("generator without effect", (", generator=generator", ""),
                  of_writing.SEEDS, credit=0.75, kind="missing step"),
            wrong("texts go on alike, drawn once",
                  "new = torch.multinomial(chances[:1], 1, generator=generator).expand(len(tokens), 1)",
                  of_writing.ONE_FOR_ALL, kind="mix-up")),
        wrong("not in evaluation mode", {"enter": ""}, of_writing.TRAINS, credit=0.75, kind="missing step"),
        *at("leave",
            wrong("mode not set again", ["", "model.train()"],
                  of_writing.MODE, credit=0.75, kind="missing step"),
            wrong("mode of the modules not set again", "model.training = before",
                  of_writing.MODULES, credit=0.75, kind="mix-up")),
        wrong("parameters left frozen", {"enter": "model.eval().requires_grad_(False)"},
              of_writing.FROZEN, credit=0.75, kind="gradient"),
        *at("before top_k",
            wrong("top_k has a default",
                  ["top_k = top_k or min(20, logits.shape[-1])",
                   "top_k = top_k or min(5, logits.shape[-1])"],
                  of_writing.TRUNCATED, credit=0.75, kind="convention")),
        wrong("smallest of the first text's best", {"smallest": "smallest = logits.topk(top_k).values[0, -1]"},
              "With top_k, tokens of all texts are compared with the smallest logit among the best of the first text. "
              "Each text has its own: values[:, -1:].", kind="mix-up"),
        wrong("smallest of the best without its axis",
              [{"smallest": "smallest = logits.topk(top_k).values[:, -1]"},
               {"top_k": "",
                "before chances": "if top_k is not None:\n"
                                  "    smallest = logits.topk(top_k).values[:, -1]\n"
                                  "    logits = logits.masked_fill(logits < smallest, -math.inf)"}],
              of_writing.NO_AXIS, kind="axis"),
        wrong("gradients left off", {"leave": "model.train(before)\ntorch.set_grad_enabled(False)"},
              of_writing.LEFT_OFF, credit=0.75, kind="gradient"),
        wrong("gradients kept", {"ask": "logits = model(context)"}, of_writing.KEEPS, credit=0.75, kind="gradient"),
        wrong("not cropped", {"crop": "context = tokens"},
              "Texts longer than context_length go into the model whole, but it has no positions for all of them. Give "
              "it the last context_length tokens.", kind="missing step"),
        wrong("the text itself cropped", {"before crop": "tokens = tokens[:, -model.context_length :]"},
              "Your result has lost the beginning of texts longer than context_length. Crop only what goes into the "
              "model, and give that a name of its own: the text itself keeps all of its tokens.",
              credit=0.75, kind="mix-up"),
        *at("crop",
            wrong("cropped to the first words", "context = tokens[:, : model.context_length]",
                  "For long texts, the model gets the first context_length tokens. Give it the last ones.",
                  kind="axis"),
            wrong("cropped too much", "context = tokens[:, -(model.context_length - 1) :]",
                  "For long texts, the model gets one token fewer than context_length. Give it context_length tokens.",
                  credit=0.75, kind="mix-up"),
            wrong("the last word only", "context = tokens[:, -1:]",
                  "In your results, the model gets only the last token. Give it the whole text, up to context_length.",
                  kind="missing step"),
            wrong("the last word only, after the first step",
                  "context = tokens[:, -model.context_length :] if tokens.shape[1] == begun else tokens[:, -1:]",
                  "After the first new token, the model gets only the newest one, as with a cache. It has none: give "
                  "it the whole text, up to context_length.", kind="missing step",
                  also={"before enter": "begun = tokens.shape[1]"})),
        wrong("new tokens not read", {"before enter": "prompt = tokens", "crop": ("tokens", "prompt")},
              "Each time, the model gets the original text, without the new tokens. Give it the whole text so far.",
              kind="missing step"),
        wrong("logits of the first word", {"last": "logits = logits[:, 0]"},
              "Your tokens come from the logits at the first position. Use those at the last one, which say what comes "
              "next.", kind="axis"),
        wrong("only new tokens returned", {"result": "return tokens[:, tokens.shape[1] - count :]"},
              of_writing.ONLY_NEW, credit=0.75, kind="convention"),
    ],
)
# fmt: on
