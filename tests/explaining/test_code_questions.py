"""What is asked about a student's own code is true, certain, and worth asking: a piece of code for each rule."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import nn

from grader.explaining.code_questions import questions_about
from grader.explaining.in_notebook import NotebookRuns
from grader.explaining.observed import Draw
from grader.explaining.outcomes import ERROR, GENERAL
from grader.explaining.question import CodeQuestion, QuestionKind
from grader.explaining.subject import Subject

NAMES = {"torch": torch, "nn": nn, "math": math, "F": torch.nn.functional, "time": time}
SEEDS = range(6)
MANY = 20  # more questions than any of this code has


def random_draws(*shapes: tuple[int, ...]) -> list[Draw]:
    rngs = [torch.Generator().manual_seed(seed) for seed in SEEDS]
    return [Draw([torch.randn(shape, generator=rng) for shape in shapes]) for rng in rngs]


def module_draws(built: Sequence[Any], x: tuple[int, ...], weights: dict[str, tuple[int, ...]]) -> list[Draw]:
    draws = []
    for seed in SEEDS:
        rng = torch.Generator().manual_seed(seed)
        drawn = {name: torch.randn(shape, generator=rng) / shape[-1] ** 0.5 for name, shape in weights.items()}
        draws.append(Draw([torch.randn(x, generator=rng)], built, drawn))
    return draws


def asked(code: str, entry: str, *cases: Sequence[Draw], seed: int = 0, count: int = MANY) -> list[CodeQuestion]:
    return questions_about(Subject(code, entry, cases), NotebookRuns(NAMES), seed, count)


def asked_in_turn(code: str, entry: str, *cases: Sequence[Draw]) -> list[CodeQuestion]:
    """The questions of several seeds: at most one is asked about a line."""
    return [question for seed in SEEDS for question in asked(code, entry, *cases, seed=seed)]


def about_line(
    questions: Sequence[CodeQuestion], line: int, kind: QuestionKind = QuestionKind.CHANGE
) -> list[CodeQuestion]:
    return [question for question in questions if question.line == line and question.kind is kind]


def right(question: CodeQuestion) -> str:
    return question.options[question.right]


ATTENTION = """\
def attention(q, k, v):
    scores = q @ k.mT
    scores = scores / k.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
"""
OF_ATTENTION = random_draws((2, 5, 4), (2, 5, 4), (2, 5, 3))


def test_questions_about_attention_are_the_expected_ones() -> None:
    uneven = "`weights` would be more peaked."
    other_axis = "`weights` would sum to one along axis 1 instead."
    expected = {
        (QuestionKind.SHAPE, "What is the shape of `scores` after line 2?"): "(2, 5, 5)",
        (
            QuestionKind.SUMS,
            "After line 4, which of these contains nothing but ones (up to rounding)?",
        ): "`weights.sum(dim=2)`",
        (QuestionKind.CHANGE, "If line 3 were removed, what would happen?"): uneven,
        (
            QuestionKind.CHANGE,
            "If line 4 were `weights = torch.softmax(scores, dim=-2)`, what would happen?",
        ): other_axis,
    }
    questions = asked_in_turn(ATTENTION, "attention", OF_ATTENTION)
    answers = {(question.kind, question.text): right(question) for question in questions}
    assert expected.items() <= answers.items()


def test_questions_have_one_right_option_and_at_least_two_specific_ones() -> None:
    for question in asked(ATTENTION, "attention", OF_ATTENTION):
        assert len(set(question.options)) == len(question.options) >= 3
        general = ("It would stop with an error.", "The result would stay the same.")
        specific = [option for option in question.options if option not in general]
        assert len(specific) >= 2
        assert question.explanation


def test_questions_are_the_same_for_the_same_seed_and_on_different_lines() -> None:
    questions = asked(ATTENTION, "attention", OF_ATTENTION, count=3)
    assert questions == asked(ATTENTION, "attention", OF_ATTENTION, count=3)
    assert len({question.line for question in questions}) == len(questions) == 3


def test_inputs_in_words_are_those_that_ran() -> None:
    small, large = random_draws((2, 3), (2, 3), (2, 3)), random_draws((7, 6), (7, 6), (7, 6))
    code = ATTENTION.replace("    return", "    if len(q) > 5:\n        weights = weights * 1\n    return")
    for question in asked(code, "attention", small, large):  # in the second case, more lines run
        assert question.inputs == "`q`, `k` and `v` each of shape (7, 6)"


def test_list_of_inputs_is_called_one() -> None:
    draws = [Draw([list(draw.arguments[0])]) for draw in random_draws((3, 4, 5))]
    code = "def mean(items):\n    stacked = torch.stack(items, dim=0)\n    return stacked.mean(dim=0)\n"
    questions = asked(code, "mean", draws)
    assert questions
    assert {question.inputs for question in questions} == {"`items` a list of 3 tensors of shape (4, 5)"}


def test_module_is_said_with_its_arguments() -> None:
    code = (
        "class Head(nn.Module):\n    def __init__(self, d_in, d_out):\n        super().__init__()\n"
        "        self.W = nn.Linear(d_in, d_out, bias=False)\n\n    def forward(self, x):\n        y = self.W(x)\n"
        "        scores = y @ y.mT\n        return torch.softmax(scores, dim=-1) @ y\n"
    )
    questions = asked(code, "Head", module_draws((4, 3), (2, 5, 4), {"W.weight": (3, 4)}))
    assert questions
    words = "`Head(d_in=4, d_out=3)` called with `x` of shape (2, 5, 4)"
    assert {question.inputs for question in questions} == {words}


def test_step_that_a_later_one_hides_is_not_said_to_change_nothing() -> None:
    code = "def weights(scores, b):\n    scores = scores + b\n    return torch.softmax(scores, dim=-1)\n"
    assert about_line(asked(code, "weights", random_draws((4, 5), (4, 1))), 2) == []


def test_copy_that_protects_the_input_is_not_said_to_change_nothing() -> None:
    code = "def shifted(x):\n    y = x.clone()\n    y -= y.amax(dim=-1, keepdim=True)\n    return y.softmax(dim=-1)\n"
    questions = asked(code, "shifted", random_draws((4, 5)))
    assert "The result would stay the same." not in map(right, about_line(questions, 2))


def test_step_for_large_numbers_is_not_said_to_change_nothing() -> None:
    code = (
        "def softmax(x):\n    m = x.amax(dim=-1, keepdim=True)\n    e = torch.exp(x - m)\n"
        "    return e / e.sum(dim=-1, keepdim=True)\n"
    )
    questions = asked_in_turn(code, "softmax", random_draws((4, 5)))
    assert "The result would stay the same." not in map(right, about_line(questions, 3))


def test_nothing_is_asked_about_rows_that_a_library_leaves_empty() -> None:
    code = (
        "def attention(q, k, v):\n    mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril(diagonal=0)\n"
        "    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"
    )
    for question in about_line(asked(code, "attention", OF_ATTENTION), 2):
        assert "NaN" not in right(question)


def test_error_that_comes_in_a_later_round_is_not_asked_for() -> None:
    rngs = [torch.Generator().manual_seed(seed) for seed in SEEDS]
    draws = [
        Draw([torch.randn(2, 2, generator=rng), [torch.randn(2, 2, generator=rng), torch.randn(2, 3, generator=rng)]])
        for rng in rngs
    ]
    code = "def product(y, factors):\n    for w in factors:\n        y = y @ w\n    return y\n"
    assert "It would stop with an error." not in map(right, about_line(asked(code, "product", draws), 3))


def test_shape_is_not_asked_where_a_comment_says_it() -> None:
    code = ATTENTION.replace("q @ k.mT", "q @ k.mT  # (B, T, T)")
    assert about_line(asked_in_turn(code, "attention", OF_ATTENTION), 2, QuestionKind.SHAPE) == []


def test_name_after_a_statement_of_several_lines_is_asked_after_its_last() -> None:
    code = ATTENTION.replace("q @ k.mT", "torch.matmul(\n        q,\n        k.mT,\n    )")
    questions = asked_in_turn(code, "attention", OF_ATTENTION)
    texts = {question.text for question in questions if question.kind is QuestionKind.SHAPE}
    assert "What is the shape of `scores` after line 5?" in texts
    assert not any("after line 2" in text for text in texts)


def test_change_shows_the_whole_new_line() -> None:
    code = "def rotate(x, cos, sin):\n    y = x.mT\n    return x * cos + y * sin\n"
    for question in about_line(asked(code, "rotate", random_draws((4, 4), (4, 4), (4, 4))), 3):
        assert "were `return " in question.text


CAUSAL = """\
def causal(x):
    scores = x @ x.mT
    visible = torch.ones_like(scores).tril()
    scores = scores.masked_fill(visible == 0, -1e4)
    return torch.softmax(scores, dim=-1) @ x
"""


def test_changed_mask_is_asked_by_what_a_place_then_sees() -> None:
    answers = {question.text: right(question) for question in asked_in_turn(CAUSAL, "causal", random_draws((2, 5, 4)))}
    text = "If line 3 were `visible = torch.ones_like(scores).triu()`, what would happen?"
    assert answers[text] == "`result[:, t]` would depend on `x[:, s]` exactly for s ≥ t."


CAUSAL_TWICE = """\
def causal(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    visible = torch.ones_like(weights).tril()
    weights = weights * visible
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ x
"""


def test_explanations_say_what_a_run_showed() -> None:
    """Not only that it was so."""
    questions = asked_in_turn(ATTENTION, "attention", OF_ATTENTION)
    questions += asked_in_turn(CAUSAL, "causal", random_draws((2, 5, 4)))
    explanations = {right(question): question.explanation for question in questions}
    of_peaks = explanations["`weights` would be more peaked."]
    assert of_peaks.startswith("In a run, one of the largest numbers along axis 2 was 0.")
    of_sums = explanations["`weights` would sum to one along axis 1 instead."]
    assert of_sums.startswith("In a run, its sums along axis 2 were between 0.")
    of_places = explanations["`result[:, t]` would depend on `x[:, s]` exactly for s ≥ t."]
    assert of_places == "In a run with another `x[:, 3]`, `result[:, 4]` stayed the same."
    assert not [explanation for explanation in explanations.values() if "It was so" in explanation]


def test_name_that_is_assigned_twice_is_said_with_its_line() -> None:
    """After the last line, it may sum to one again."""
    options = {
        option
        for question in asked_in_turn(CAUSAL_TWICE, "causal", random_draws((2, 5, 4)))
        for option in question.options
        if "uniform" in option or "peaked" in option or "sums to one" in option
    }
    assert options
    assert all("`weights` after line 5" in option or "`weights` after line 2" in option for option in options)


def test_times_are_asked_where_they_are_no_size() -> None:
    code = (
        "def tiles(x):\n    total = x[0] * 0\n    for i in range(0, len(x), 3):\n        for j in range(i + 1):\n"
        "            total = total + x[j]\n    return total\n"
    )
    draws = random_draws((7, 4))
    question = about_line(asked_in_turn(code, "tiles", draws), 5, QuestionKind.TIMES)[0]
    counts = [j for i in range(0, 7, 3) for j in range(i + 1)]
    assert right(question) == str(len(counts))
    loop = "def total(x):\n    y = x[0] * 0\n    for row in x:\n        y = y + row\n    return y\n"
    assert about_line(asked(loop, "total", draws), 4, QuestionKind.TIMES) == []
    written = "def total(x):\n    y = x[0] * 0\n    for row in (x[0], x[3]):\n        y = y + row\n    return y\n"
    assert about_line(asked(written, "total", draws), 4, QuestionKind.TIMES) == []


def test_whole_numbers_that_decide_are_shown() -> None:
    code = (
        "def part(x, lengths):\n    longest = int(lengths.max())\n    y = x[:, :longest].cumsum(dim=1)\n"
        "    scores = y @ y.mT\n    return torch.softmax(scores, dim=-1)\n"
    )
    draws = [Draw([draw.arguments[0], torch.tensor([2, 4])]) for draw in random_draws((2, 5, 3))]
    questions = asked(code, "part", draws)
    assert questions
    assert {question.inputs for question in questions} == {"`x` of shape (2, 5, 3), `lengths` = `tensor([2, 4])`"}


def test_line_that_a_block_needs_is_not_taken_out() -> None:
    code = "def total(x):\n    y = x[0].clone()\n    for row in x:\n        y += row\n    return y\n"
    texts = [question.text for question in asked_in_turn(code, "total", random_draws((5, 4)))]
    assert "If line 4 were removed, what would happen?" not in texts


def test_factor_is_that_of_all_parts_of_a_result() -> None:
    code = "def both(x, y):\n    first = x / 2\n    second = y.cumsum(dim=0)\n    return first, second\n"
    for question in about_line(asked_in_turn(code, "both", random_draws((5, 4), (5, 4))), 2):
        assert right(question) != "The result would be multiplied by the same factor everywhere."


def test_result_of_zeros_is_not_called_multiplied() -> None:
    code = "def total(x):\n    y = x[0] * 0\n    z = y + x.sum(dim=0)\n    return z * 2\n"
    for question in about_line(asked_in_turn(code, "total", random_draws((5, 4))), 3):
        if "`z = y`" in question.text:
            assert right(question) == "All numbers of the result would be 0."


def test_result_with_nan_is_only_said_to_contain_nan() -> None:
    code = (
        "def mean(x):\n    hidden = torch.ones_like(x).triu(1)\n"
        "    x = x.masked_fill(hidden == 1, -math.inf)\n    return x.softmax(-1)\n"
    )
    for question in asked_in_turn(code, "mean", random_draws((5, 5))):
        if "triu(0)" in question.text or "tril" in question.text:
            assert right(question) == "The result would contain NaN."


def test_what_stays_the_same_is_not_also_multiplied_by_one() -> None:
    code = "def shift(x):\n    y = x.contiguous()\n    return y @ y.mT\n"
    for question in about_line(asked_in_turn(code, "shift", random_draws((5, 4))), 2):
        if right(question) == "The result would stay the same.":
            assert "The result would be multiplied by the same factor everywhere." not in question.options


def test_first_weights_are_not_asked_about() -> None:
    code = (
        "class Head(nn.Module):\n    def __init__(self, d_in, d_out):\n        super().__init__()\n"
        "        self.W = nn.Linear(d_in, d_out, bias=False)\n        nn.init.normal_(self.W.weight, std=0.02)\n\n"
        "    def forward(self, x):\n        y = self.W(x)\n        return torch.softmax(y @ y.mT, dim=-1) @ y\n"
    )
    questions = asked_in_turn(code, "Head", module_draws((4, 3), (2, 5, 4), {"W.weight": (3, 4)}))
    assert about_line(questions, 5) == []


def test_code_that_prints_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(ATTENTION.replace("    return", "    print(weights)\n    return"), "attention", OF_ATTENTION)
    assert capsys.readouterr() == ("", "")


def test_notebook_keeps_its_names_and_random_numbers() -> None:
    names = dict(NAMES)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    questions_about(Subject(ATTENTION, "attention", [OF_ATTENTION]), NotebookRuns(names), 0)
    assert names == NAMES
    assert torch.equal(torch.rand(3), expected)


HOSTILE = {
    "looks for notes": "    if '_notes' in globals():\n        return v\n",
    "looks at its bytecode": "    if len(attention.__code__.co_code) > 200:\n        raise ValueError\n",
    "is another one each time": "    v = v * (time.perf_counter_ns() % 9973)\n",
}


@pytest.mark.parametrize("lines", HOSTILE.values(), ids=HOSTILE)
def test_code_that_is_another_one_with_notes_is_asked_nothing(lines: str) -> None:
    code = ATTENTION.replace("    scores = q @", f"{lines}    scores = q @")
    assert asked(code, "attention", OF_ATTENTION) == []


def test_code_that_fails_after_nearly_any_change_is_asked_nothing_about_changes() -> None:
    guard = "    if abs(float(result.sum()) - float((k @ k.mT @ v).sum())) > 1e-3:\n        raise ValueError\n"
    code = f"def product(k, v):\n    scores = k @ k.mT\n    result = scores @ v\n{guard}    return result\n"
    questions = asked_in_turn(code, "product", random_draws((2, 5, 4), (2, 5, 3)))
    assert {question.kind for question in questions} <= {QuestionKind.SHAPE, QuestionKind.SUMS}


def effects(question: CodeQuestion) -> list[str]:
    """The options that could not be said of any code."""
    return [option for option in question.options if option not in GENERAL]


def test_change_has_two_effects_among_its_options_whatever_is_right() -> None:
    masked = ATTENTION.replace("    weights", "    scores = scores + torch.ones(5, 5).triu(1) * -1e9\n    weights")
    pieces = [asked_in_turn(code, "attention", OF_ATTENTION) for code in (ATTENTION, masked)]
    questions = [question for question in itertools.chain.from_iterable(pieces) if question.kind == "change"]
    assert len(questions) > 5
    assert all(len(question.options) == 4 and len(effects(question)) > 1 for question in questions)
    assert {right(question) in GENERAL for question in questions} == {True, False}
    assert all(ERROR in question.options for question in questions if right(question) not in GENERAL)


def test_line_that_collects_results_is_not_taken_out() -> None:
    code = (
        "def attention(q, k, v):\n    rows = [v.mean(dim=0)]\n    for query in q:\n"
        "        weights = torch.softmax(k @ query, dim=0)\n        rows.append(weights @ v)\n"
        "    return torch.stack(rows)\n"
    )
    questions = asked_in_turn(code, "attention", random_draws((5, 4), (6, 4), (6, 3)))
    assert questions
    assert not [question for question in questions if question.text.startswith("If line 5 were removed")]


def test_shape_that_a_call_names_is_not_asked() -> None:
    code = (
        "def split(x):\n    B, T, d = x.shape\n    y = (x * 2).cumsum(dim=1)\n"
        "    heads = (y * y).reshape(B, T, 2, d // 2)\n    return heads.transpose(1, 2) @ heads.permute(0, 2, 3, 1)\n"
    )
    questions = asked_in_turn(code, "split", random_draws((3, 5, 8)))
    assert about_line(questions, 4, QuestionKind.SHAPE) == []


def test_shape_of_a_layer_alone_is_not_asked() -> None:
    code = (
        "class Projected(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.W = nn.Linear(6, 8, bias=False)\n\n    def forward(self, x):\n        k = self.W(x)\n"
        "        scores = k @ k.mT\n        return torch.softmax(scores, dim=-1) @ k\n"
    )
    questions = asked_in_turn(code, "Projected", module_draws((), (2, 5, 6), {"W.weight": (8, 6)}))
    assert about_line(questions, 8, QuestionKind.SHAPE)
    assert about_line(questions, 7, QuestionKind.SHAPE) == []


def test_features_of_a_word_are_no_places_in_a_text() -> None:
    code = (
        "def normed(x):\n    squares = x.pow(2).mean(dim=-1, keepdim=True)\n    x = x / (squares + 1e-5).sqrt()\n"
        "    return x * 2\n"
    )
    questions = asked_in_turn(code, "normed", random_draws((2, 5, 4)))
    assert questions
    assert not [question for question in questions if any("depend on" in option for option in question.options)]


def test_line_that_initializes_weights_is_not_taken_out() -> None:
    """The weights are those of a case, so nothing would change here, as it does in the student's notebook."""
    code = (
        "class Projected(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.W = nn.Linear(6, 8, bias=False)\n        self.apply(self.start)\n\n    def start(self, module):\n"
        "        if isinstance(module, nn.Linear):\n            nn.init.xavier_normal_(module.weight)\n"
        "            if module.bias is not None:\n                nn.init.zeros_(module.bias)\n\n"
        "    def forward(self, x):\n        k = self.W(x)\n        scores = k @ k.mT\n"
        "        weights = torch.softmax(scores, dim=-1)\n        return weights @ k\n"
    )
    questions = asked_in_turn(code, "Projected", module_draws((), (2, 5, 6), {"W.weight": (8, 6)}))
    assert questions
    assert about_line(questions, 9) == []


def test_places_in_a_text_are_asked_about_only_where_the_future_is_hidden() -> None:
    questions = asked_in_turn(ATTENTION, "attention", OF_ATTENTION)
    assert questions
    assert not [question for question in questions if any("depend on" in option for option in question.options)]


INHERITED = """\
class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = nn.Linear(6, 8, bias=False)

    def forward(self, x):
        k = self.W(x)
        weights = torch.softmax(k @ k.mT, dim=-1)
        return weights @ k


class Child(Parent):
    pass
"""


def test_arguments_of_an_inherited_method_are_named() -> None:
    questions = asked(INHERITED, "Child", module_draws((), (2, 5, 6), {"W.weight": (8, 6)}))
    assert questions
    assert {question.inputs for question in questions} == {"`Child()` called with `x` of shape (2, 5, 6)"}


def test_function_whose_arguments_have_no_names_is_not_asked_about() -> None:
    code = ATTENTION.replace("(q, k, v):", "(*arguments):\n    q, k, v = arguments")
    assert asked(code, "attention", OF_ATTENTION) == []


def test_line_that_would_overwrite_an_input_is_not_asked_about() -> None:
    code = (
        "def causal(scores, v):\n    s = scores / 2**0.5\n    s[:, 0] = -1e9\n"
        "    weights = torch.softmax(s, dim=-1)\n    return weights @ v\n"
    )
    questions = asked_in_turn(code, "causal", random_draws((5, 6), (6, 3)))
    assert questions
    assert not [question for question in questions if "`s = scores`" in question.text]
