"""The visible checks beside the notebooks."""

from __future__ import annotations

import importlib.util
import math
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import pytest
import torch

from grader.course.folder import Course
from grader.kit import checking
from grader.kit.module_examples import ModuleExample, Refusal
from grader.notebooks.cells import solutions
from support.places import ROOT

SOURCE = ROOT / "source"
NUMBERS = {"self_attention": range(1, 9), "causal_attention": range(9, 17)}
EXERCISES = [number for numbers in NUMBERS.values() for number in numbers]


# The cells that hold functions or data which solutions and known values need.
GIVEN = ("given-softmax-cols", "given-multi-head-softmax-cols", "given-words")

Notebook = dict[str, Any]


def assignment_of(number: int) -> str:
    return next(name for name, numbers in NUMBERS.items() if number in numbers)


@cache
def source_of(assignment: str) -> Any:
    return Course(ROOT).read("source", assignment)


@pytest.fixture
def notebook_with(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[int], Notebook]:
    """Gives the namespace of the notebook that holds an exercise, with its checks and right solutions."""

    def make(number: int) -> Notebook:
        assignment = assignment_of(number)
        monkeypatch.syspath_prepend(str(SOURCE / assignment))
        spec = importlib.util.spec_from_file_location(f"checks_of_{assignment}", SOURCE / assignment / "checks.py")
        assert spec is not None
        assert spec.loader is not None
        checks = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(checks)
        notebook: Notebook = {"check": checks.check, "solved": checks.solved, "__name__": "notebook"}
        exec(
            "import math, torch\nimport numpy as np\nfrom torch import nn\nfrom torch.nn import functional as F",
            notebook,
        )
        source = source_of(assignment)
        given = [cell.source for cell in source.cells if cell.id in GIVEN]
        for code in [*given, *solutions(source).values()]:
            exec(code, notebook)
        capsys.readouterr()  # what given cells print
        return notebook

    return make


@pytest.mark.parametrize("number", EXERCISES)
def test_check_of_solution_is_green(
    number: int, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(f"check({number})", notebook_with(number))
    out, err = capsys.readouterr()
    functions = 2 if number == 14 else 1
    assert out.count("\x1b[32m✓\x1b[0m") == out.count("\n") == functions
    assert err == ""


def changed(number: int, right: str, wrong: str) -> str:
    """The solution of an exercise with a mistake in it."""
    solution = solutions(source_of(assignment_of(number)))[number]
    assert right in solution
    return solution.replace(right, wrong)


PARAMETERS = """
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.{name} = {query}
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
"""
TO_DO_IN_FORWARD = "class SelfAttention_v1(SelfAttention_v1):\n  def forward(self, x): raise NotImplementedError()"
CALLED_LIST = PARAMETERS.format(name="W_query", query="nn.Parameter(torch.rand(d_in, d_out))") + (
    "        self.parts = nn.ModuleList()\n\n    def forward(self, x): return self.parts(x)"
)
MISSPELLED_FORWARD = (
    PARAMETERS.format(name="W_query", query="nn.Parameter(torch.rand(d_in, d_out))")
    + "    def foward(self, x): return x"
)


@pytest.mark.parametrize(
    ("source", "number", "words"),
    [
        ("def softmax(x): raise NotImplementedError()", 3, "still to do"),
        ("def softmax(x): pass", 3, "returned None"),
        ("def softmax(x): return torch.softmax(x, 0)", 3, "plain list, softmax stopped with TypeError"),
        ("def softmax(x): return 1 / 0", 3, "ZeroDivisionError"),
        ("softmax = 3", 3, "there is no function softmax yet"),
        ("def softmax(x): return torch.softmax(torch.as_tensor(x), 0) * 2", 3, "expected 0.8438, your code gave 1.687"),
        ("def softmax(x): return torch.softmax(torch.as_tensor(x), 0).tolist()", 3, "a torch tensor was expected"),
        ("def self_attention(q, k, v): return v[:1]", 6, "list of 1"),
        ("old = self_attention\ndef self_attention(q, k, v): return [x.T for x in old(q, k, v)]", 6, "transposed"),
        ("old = attention_scores\ndef attention_scores(q, k): return old(k, q)", 2, "Rows and columns look swapped"),
        ("def attention_weights(s):\n  s.append(0); return []", 4, "empty list"),
        (
            "old = weighted_sums\ndef weighted_sums(w, v):\n  out = old(w, v); v[0] += 1; return out",
            5,
            "changes its input",
        ),
        ("def simple_attention_scores(x, q): return x @ q / 2", 9, "expected 0.9544, your code gave 0.4772"),
        (
            "def softmax_stable(x, dim=-1): return x.exp() / x.exp().sum(dim, True)",
            10,
            "large and very small numbers, res",
        ),
        (
            "def simple_attention_scores(x, q): return (x @ q)[:, None]",
            9,
            "has shape (4, 1), but (4,) was expected. Axis 1",
        ),
        (
            "def simple_attention_scores(x, q): return torch.tensor([torch.dot(w, q) for w in x], dtype=x.dtype)",
            9,
            "No gradient gets through your function",
        ),
        (
            "def simple_attention_scores(x, q):\n  s = torch.zeros(len(x))\n  for i, w in enumerate(x): s[i] = w @ q\n"
            "  return s",
            9,
            "has numbers of type float32, but float64 was expected",
        ),
        (
            "def simple_attention_scores(x, q): return (x @ q).double()",
            9,
            "numbers of type float64, but float32",
        ),
        (
            "def simple_attention_scores(x, q): return x @ q.float()",
            9,
            "right for float32 inputs, but not for float64",
        ),
        (
            "def softmax_stable(x, dim=-1):\n  e = torch.exp(x - x.amax(dim, True))\n  return e.div_(e.sum(dim, True))",
            10,
            "No gradient can be computed",
        ),
        (
            "def all_context_vectors(x):\n  e = torch.exp(x @ x.T)\n  return e / e.sum(1, True) @ x",
            11,
            "It must work up to ±10⁴, without NaN.",
        ),
        (
            "def causal_softmax(s, d_k): return mask_then_renormalize(torch.softmax(s / d_k**0.5, -1))",
            14,
            "It must work up to ±10⁴, without NaN.",
        ),
        (changed(12, "torch.rand(", "torch.zeros("), 12, "W_value are each the same number everywhere"),
        (changed(16, 'buffer("mask", mask)', 'buffer("mask", mask, persistent=False)'), 16, "not in state_dict"),
        (
            "def attention_scores(q, k):\n  n = range(len(q))\n"
            "  return [[(q[i].T @ k[j]).squeeze() / len(q[0]) ** 0.5 for j in n] for i in n]",
            2,
            "two queries and three keys",
        ),
        ("def softmax_stable(x, dim=-1):\n  x -= x.max(); return torch.softmax(x, dim)", 10, "changes its input"),
        ("def softmax_stable(x, dim=-1): return torch.softmax(x, -1)", 10, "with three dimensions and dim=0"),
        ("def all_context_vectors(x): return torch.softmax(x @ x.T, 0) @ x", 11, "with the six words, result[0, 0]"),
        (
            "def softmax_stable(x, dim=-1): return x\ndef all_context_vectors(x): return softmax_stable(x @ x.T) @ x",
            11,
            "look there first: exercise 10 is not right yet",
        ),
        (
            "def softmax_stable(x): raise NotImplementedError()\ndef all_context_vectors(x): return softmax_stable(x)",
            11,
            "see exercise 10",
        ),
        (
            "class SelfAttention_v1:\n  def __init__(self, d_in, d_out): pass",
            12,
            "this is not a torch.nn.Module.",
        ),
        ("del SelfAttention_v1", 12, "there is no class SelfAttention_v1 yet"),
        (MISSPELLED_FORWARD, 12, "has no method forward"),
        (CALLED_LIST, 12, "Module [ModuleList] is missing"),
        ("def softmax(x): return torch.ones(2) | torch.ones(2)", 3, "not implemented for 'Float'"),
        (TO_DO_IN_FORWARD, 12, "Write forward of SelfAttention_v1"),
        (
            PARAMETERS.format(query="torch.rand(d_in, d_out)", name="W_query"),
            12,
            "has no parameter W_query: it is a plain tensor, which is not trained.",
        ),
        (
            PARAMETERS.format(query="nn.Parameter(torch.rand(d_in, d_out))", name="W_q"),
            12,
            "has no parameter W_query. It has W_q, W_key, W_value.",
        ),
        (
            PARAMETERS.format(query="nn.Parameter(torch.rand(d_out, d_in))", name="W_query"),
            12,
            "W_query has shape (2, 3), but (3, 2)",
        ),
        (changed(12, "x @ self.W_query", "x @ self.W_query.detach()"), 12, "No gradient reaches W_query"),
        (changed(12, "@ v", "@ v.detach()"), 12, "No gradient reaches W_value"),
        (changed(12, "@ v", "@ v.data"), 12, "No gradient reaches W_value"),
        (changed(12, "q = x @", "x = x.detach(); q = x @"), 12, "No gradient reaches the input"),
        (changed(12, "q = x @", "x *= 1.5; x = x / 1.5; q = x @"), 12, "changes its input"),
        (changed(12, "k.shape[-1]", "x.shape[-1]"), 12, "is the first wrong number"),
        (changed(13, "bias=qkv_bias", "bias=True"), 13, "a parameter W_query.bias where no bias was asked for"),
        (changed(13, "bias=qkv_bias", "bias=False"), 13, "has no parameter W_query.bias"),
        (changed(13, "return ", ""), 13, "returned None"),
        ("def mask_then_renormalize(a): return a.tril()", 14, "with the weights of the six words, result[0, 0]"),
        (
            "def causal_softmax(s, d_k): return torch.softmax(s.tril() / d_k**0.5, -1)",
            14,
            "with the scores of the six words",
        ),
        ("def inverted_dropout(a, p, training): return a", 15, "nothing was dropped"),
        ("def inverted_dropout(a, p, training): return F.dropout(a, p, True)", 15, "with training=False"),
        (
            "def inverted_dropout(a, p, training): return F.dropout(a, 1 - p, training) if p else a",
            15,
            "about 0.20, but it is 0.80",
        ),
        (
            "def inverted_dropout(a, p, training): return F.dropout(a, p, training) * (1 - p if training else 1)",
            15,
            "scaled by 1/(1−p)",
        ),
        (
            "def inverted_dropout(a, p, training): return a * F.dropout(torch.ones(len(a), 1), p, training)",
            15,
            "whole rows",
        ),
        (
            "def inverted_dropout(a, p, training): return F.dropout(a, 0.5, training and p > 0)",
            15,
            "about 0.20, but it is 0.50",
        ),
        (
            "def inverted_dropout(a, p, training):\n  b = F.dropout(a, p, training)\n  return [b] if p == 0.2 else b",
            15,
            "result is not a torch tensor",
        ),
        (changed(16, 'self.register_buffer("mask", mask)', "self.mask = mask"), 16, "The mask is a plain attribute"),
        (changed(16, "ones(context_length, context_length)", "ones(9, 9)"), 16, "buffer mask has shape (9, 9)"),
        (changed(16, "self.mask[:T, :T]", "self.mask"), 16, "stopped with RuntimeError"),
        (
            changed(16, "self.mask[:T, :T] == 1", "(self.mask[:T, :T] == 1) & False"),
            16,
            "forwards and backwards, result[0, 0, 0]",
        ),
        (
            "def attention_weights(rows):\n    return [softmax(torch.stack([*row[: len(rows)]])) for row in rows]",
            4,
            "with two queries and three keys",
        ),
        (
            changed(16, "nn.Dropout(dropout)", "nn.Dropout(0.5)"),
            16,
            "in training, the share of zeros should be about 0.20",
        ),
        (
            changed(16, "weights @ v", "self.dropout(weights @ v)").replace("weights = self.dropout(weights)", ""),
            16,
            "Dropout belongs on",
        ),
        (changed(16, "self.dropout(weights)", "F.dropout(weights, 0.5)"), 16, "is the first wrong number"),
    ],
)
def test_check_of_wrong_code_says_what_is_wrong(
    source: str, number: int, words: str, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(number)
    exec(source, notebook)
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert words in " ".join(err.split())
    assert max(map(len, err.splitlines())) <= 88, "it would be broken in the middle of a word"
    assert "Traceback" not in err
    assert out == "" or number == 14  # the other one of its two functions is right


SAID = [
    (f"def attention_scores(q, k): return [[a.T @ b * {factor} for b in k] for a in q]", 2, words)
    for factor, words in (
        ("2 / len(a) ** 0.5", "Each of your numbers is 2 times the expected one."),
        ("-1 / len(a) ** 0.5", "Each of your numbers is the expected one with the opposite sign."),
        ("(8 / len(a)) ** 0.5 / 2", "Each of your numbers is 1.414 (√2) times the expected one."),
        ("1 / 3 / len(a) ** 0.5", "Each of your numbers is 1/3 times the expected one."),
        ("0.123 / len(a) ** 0.5", "Each of your numbers is 0.123 times the expected one."),
    )
] + [
    ("def simple_attention_scores(x, q): return x @ q / 2", 9, "Each of your numbers is 1/2 times the expected one."),
    ("def softmax(x): return torch.exp(torch.as_tensor(x))", 3, "They should sum to one; yours sum to 8.757."),
    (
        "def softmax(x): return torch.sigmoid(torch.as_tensor(x))",
        3,
        "They should sum to one; yours sum to 1.65.",
    ),
    (
        "def attention_weights(s): return list(torch.softmax(torch.tensor(s), 0))",
        4,
        "Each of your columns sums to one, but each row should.",
    ),
    (
        "def attention_weights(s): return [torch.sigmoid(torch.tensor(row)) for row in s]",
        4,
        "Each row should sum to one; your row 0 sums to 1.2",
    ),
    (
        "old = compute_qkv\ndef compute_qkv(*a):\n  q, k, v = old(*a)\n  return q, v, k",
        1,
        "Everything is there, but in another order. Your result[1] is what was expected as result[2].",
    ),
    (
        "old = compute_qkv\ndef compute_qkv(*a): return old(*a)[0]",
        1,
        "That is what was expected as result[0]. Return all 3.",
    ),
    ("old = weighted_sums\ndef weighted_sums(w, v): return old(w, v)[::-1]", 5, "result[0] is what was expected as"),
    (
        "def causal_softmax(s, d_k): return torch.softmax(s / d_k**0.5, -1)",
        14,
        "Later words are above the diagonal. All numbers there should be 0",
    ),
    (
        changed(16, "self.mask[:T, :T] == 1", "(self.mask[:T, :T] == 1) & False"),
        16,
        "Outputs of earlier words change when a later word is changed: your module looks into the future.",
    ),
    (
        "D = 4\ndef attention_scores(q, k): return [[a.T @ b / D**0.5 for b in k] for a in q]",
        2,
        "attention_scores reads D from the notebook: use the arguments instead.",
    ),
    (
        "D, N = 4, 3\ndef attention_scores(q, k):\n"
        "  return [[q[i].T @ k[j] / D**0.5 for j in range(N)] for i in range(N)]",
        2,
        "attention_scores reads D, N from the notebook: use the arguments instead.",
    ),
    (
        "d_in = 3\n" + changed(12, "k.shape[-1]", "d_in"),
        12,
        "SelfAttention_v1 reads d_in from the notebook",
    ),
    (
        changed(12, "nn.Parameter(torch.rand(d_in, d_out))", "nn.Parameter(torch.rand(d_in, d_out), False)"),
        12,
        "W_query and W_key and W_value cannot be trained: requires_grad is False.",
    ),
    (
        changed(16, 'self.register_buffer("mask", mask)', "self.mask = nn.Parameter(mask)"),
        16,
        "The mask is a parameter, so an optimizer would train it.",
    ),
    (
        changed(16, "torch.softmax(scores", "torch.softmax(self.dropout(scores)").replace(
            "self.dropout(weights)", "weights"
        ),
        16,
        "no attention weight is dropped",
    ),
    (
        changed(
            16, "self.dropout(weights)", "self.dropout(weights); weights = weights / weights.sum(-1, keepdim=True)"
        ),
        16,
        "in training, some outputs are NaN. If you divide the weights by their sum after dropout, leave that out",
    ),
    (
        "def inverted_dropout(a, p, training):\n  r, c = a.shape\n  return F.dropout(a, p, training)",
        15,
        "with a batch of weights and p=0.5, inverted_dropout stopped with ValueError",
    ),
    (
        "def inverted_dropout(a, p, training):\n"
        "  return a * F.dropout(torch.ones(a.shape[-2:], dtype=a.dtype), p, training)",
        15,
        "the same entries are dropped in all texts of the batch",
    ),
    (
        "def inverted_dropout(a, p, training):\n  torch.manual_seed(3)\n  return F.dropout(a, p, training)",
        15,
        "two calls drop the same entries. Do not set a seed in your function.",
    ),
    ("def causal_softmax(s, d_k): return torch.softmax(s.tril() / 0, -1)", 14, "is NaN where a number was expected"),
    (
        "def inverted_dropout(a, p, training):\n"
        "  order = torch.randperm(a.numel()).reshape(a.shape) / a.numel()\n"
        "  return a * (order >= p) / (1 - p) if training else a",
        15,
        "each call drops 30000 of 60000 entries. Decide for each entry separately, with probability p",
    ),
    # 16 bits
    (
        "def simple_attention_scores(x, q): return (x @ q).half()",
        9,
        "only as precise as 16-bit numbers.",
    ),
    (
        "def simple_attention_scores(x, q): return (x @ q).bfloat16()",
        9,
        "only as precise as 16-bit numbers.",
    ),
    (
        "def all_context_vectors(x):\n  x = x.half()\n  return (torch.softmax(x @ x.T, -1) @ x).float()",
        11,
        "only as precise as 16-bit numbers.",
    ),
    (
        "old = attention_scores\ndef attention_scores(*a): return torch.tensor(old(*a)).half()",
        2,
        "the result is right, but: Your result is only as precise as 16-bit numbers.",
    ),
    # another form
    (
        "def attention_scores(q, k):\n  return np.array([[float(a.T @ b) / len(a) ** 0.5 for b in k] for a in q])",
        2,
        "The numbers are right, but in a NumPy array. Compute with torch throughout.",
    ),
    ("def simple_attention_scores(x, q): return (x @ q).numpy()", 9, "right, but in a NumPy array"),
    ("def simple_attention_scores(x, q): return [word @ q for word in x]", 9, "The numbers are right, but in a list."),
    (
        "def simple_attention_scores(x, q): return (x @ q).tolist()",
        9,
        "torch.stack for tensors, torch.tensor for numbers",
    ),
    ("def all_context_vectors(x): return [*(torch.softmax(x @ x.T, -1) @ x)]", 11, "right, but in a list."),
    ("def simple_attention_scores(x, q): return (x @ q)[None]", 9, "Axis 0, of length 1, is one too many"),
    ("def simple_attention_scores(x, q): return (x @ q)[:, None]", 9, "result.squeeze(1) would be right"),
    ("def all_context_vectors(x): return (torch.softmax(x @ x.T, -1) @ x)[None]", 11, "result.squeeze(0) would be"),
    (
        "old = attention_weights\ndef attention_weights(s): return [row.numpy() for row in old(s)]",
        4,
        "The numbers are right, but in a NumPy array.",
    ),
    (
        "old = compute_qkv\ndef compute_qkv(*a): return tuple([x.numpy() for x in part] for part in old(*a))",
        1,
        "The numbers are right, but in a NumPy array.",
    ),
    (
        "old = attention_weights\ndef attention_weights(s): return [row[None] for row in old(s)]",
        4,
        "Axis 0, of length 1, is one too many: result[0].squeeze(0) would be right.",
    ),
    (
        "old = attention_weights\ndef attention_weights(s): return [row.tolist() for row in old(s)]",
        4,
        "The numbers are right, but in a list.",
    ),
    (
        "old = weighted_sums\ndef weighted_sums(w, v): return [x[:, 0] for x in old(w, v)]",
        5,
        "An axis of length 1 is missing: result[0].unsqueeze(1) would be right.",
    ),
    (
        "old = compute_qkv\ndef compute_qkv(*a):\n  q, k, v = old(*a)\n  return q, q, v",
        1,
        "your code gave -0.6700. Your result[1] is what was expected as result[0].",
    ),
    (
        "old = attention_scores\ndef attention_scores(q, k):\n  right = old(q, k)\n  q[0] += 1\n"
        "  return [[2 * score for score in row] for row in right]",
        2,
        "2 times the expected one. Also, your function changes its input.",
    ),
    (
        changed(12, "q = x @", "x += 1; q = x @"),
        12,
        "your code gave 1.8783. Your module changes its input. Compute new tensors instead.",
    ),
    (
        changed(12, "q = x @", "self.W_query.data /= 1.5; q = 1.5 * x @"),
        12,
        "Called twice with the same input, your module gives two different outputs.",
    ),
]


@pytest.mark.parametrize(("source", "number", "words"), SAID)
def test_check_says_what_wrong_numbers_have_in_common(
    source: str, number: int, words: str, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(number)
    exec(source, notebook)
    exec(f"check({number})", notebook)
    assert words in " ".join(capsys.readouterr().err.split())


# Of these, nothing more is to be said than where the first wrong number is.
NOTHING_SAID = [
    ("old = softmax\ndef softmax(x): return old(x) + torch.tensor([0.1, -0.1, 0.0, 0.0])[: len(x)]", 3),
    ("old = weighted_sums\ndef weighted_sums(w, v): return [x + 1 for x in old(w, v)]", 5),
    ("old = compute_qkv\ndef compute_qkv(*a):\n  q, k, v = old(*a)\n  return q, [x + 1 for x in v], v", 1),
    ("FEW = 1e-3\nold = weighted_sums\ndef weighted_sums(w, v): return [x + FEW for x in old(w, v)]", 5),
    (changed(13, "math.sqrt(k.shape[-1])", "math.sqrt(x.shape[-1])"), 13),
    ("def simple_attention_scores(x, q): return (x @ q).half() + 1", 9),
    # What comes out of dropout need not sum to one.
    ("def inverted_dropout(a, p, training): return a * torch.tensor([[1, 1], [0, 1]]) if len(a) == 2 else a", 15),
]
NOT_EVEN_RIGHT_NUMBERS = [
    "def simple_attention_scores(x, q): return [word @ q + 1 for word in x]",
    "def simple_attention_scores(x, q): return (x @ q + 1).numpy()",
    "def simple_attention_scores(x, q): return (x @ q + 1)[None]",
    "def simple_attention_scores(x, q): return [*(x @ q + 1).numpy()]",
]


@pytest.mark.parametrize("source", NOT_EVEN_RIGHT_NUMBERS)
def test_check_of_wrong_numbers_in_another_type_calls_none_right(
    source: str, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(9)
    exec(source, notebook)
    exec("check(9)", notebook)
    said = capsys.readouterr().err
    assert "✗" in said
    assert "right" not in said


@pytest.mark.parametrize(("source", "number"), NOTHING_SAID)
def test_check_of_unknown_mistake_shows_only_the_first_wrong_number(
    source: str, number: int, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(number)
    exec(source, notebook)
    exec(f"check({number})", notebook)
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(r"your code gave [−\-\d.e]+\.$", said), said


SCALED_OTHERWISE = [
    (12, "math.sqrt(k.shape[-1])", ("1", "d_in ** 0.5", "len(x) ** 0.5", "k.shape[-1]", "8 ** 0.5")),
    (13, "math.sqrt(k.shape[-1])", ("1", "x.shape[-1] ** 0.5", "len(x) ** 0.5", "k.shape[-1]", "8 ** 0.5")),
    (16, "math.sqrt(k.shape[-1])", ("1", "x.shape[-1] ** 0.5", "T ** 0.5", "k.shape[-1]", "8 ** 0.5")),
    (16, "dim=-1)", ("dim=-2)", "dim=-1).softmax(-1)")),
    (16, "mask, -math.inf", ("mask, 0", "mask.T, -1e9")),
    (
        16,
        "torch.softmax(scores, dim=-1)",
        ("torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1).tril()",),
    ),
]


@pytest.mark.parametrize(
    ("number", "right", "wrong"), [(number, right, wrong) for number, right, all_ in SCALED_OTHERWISE for wrong in all_]
)
def test_check_of_usual_module_mistakes_shows_clearly_wrong_numbers(
    number: int, right: str, wrong: str, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    """Not in the third digit, which students take for rounding."""
    notebook = notebook_with(number)
    exec(changed(number, right, wrong).replace("d_in **", "self.W_query.shape[0] **"), notebook)
    exec(f"check({number})", notebook)
    told = re.search(r"expected (\S+), your code gave (\S+)\.", " ".join(capsys.readouterr().err.split()))
    assert told
    assert abs(float(told[1]) - float(told[2])) > 0.1


def test_check_advises_to_look_at_earlier_exercise_only_when_called(
    notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    """An exercise that is wrong, or not written, is no reason for a mistake that has nothing to do with it."""
    wrong = "def all_context_vectors(x): return {}(x @ x.T, 0) @ x"
    for other, calls, advised in (
        ("def softmax_stable(x, dim=-1): return x", "softmax_stable", True),
        ("def softmax_stable(x, dim=-1): return x\ndef helper(x, dim): return softmax_stable(x)", "helper", True),
        ("def softmax_stable(x, dim=-1): return x", "torch.softmax", False),
        ("def softmax_stable(x, dim=-1): raise NotImplementedError", "torch.softmax", False),
    ):
        notebook = notebook_with(11)
        exec(f"{other}\n{wrong.format(calls)}\ncheck(11)", notebook)
        assert ("look there first" in capsys.readouterr().err) == advised


RIGHT_IN_OTHER_WAYS = [
    ("def simple_attention_scores(x, q): return torch.stack([torch.dot(word, q) for word in x])", 9),
    ("def softmax_stable(x, dim=-1): return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))", 10),
    ("def all_context_vectors(x): return F.scaled_dot_product_attention(x, x, x, scale=1.0)", 11),
    (changed(13, "math.sqrt(k.shape[-1])", "math.sqrt(self.W_key.out_features)"), 13),
    (
        changed(
            13,
            "q = self.W_query(x)",
            "q, _ = F.linear(x, torch.cat([self.W_query.weight] * 2), "
            "torch.cat([self.W_query.bias] * 2) if self.W_query.bias is not None else None).chunk(2, dim=-1)",
        ),
        13,
    ),
    (
        "def causal_softmax(s, d_k):\n  a = (s / d_k**0.5).masked_fill(~torch.ones_like(s).bool().tril(), -1e9)\n"
        "  return mask_then_renormalize(torch.softmax(a, -1))",
        14,
    ),
    ("def inverted_dropout(a, p, training): return F.dropout(a, p, training)", 15),
    (changed(16, "mask, -math.inf", "mask, torch.finfo(x.dtype).min"), 16),
    (changed(16, 'buffer("mask"', 'buffer("later"').replace("self.mask", "self.later"), 16),
    (changed(16, 'buffer("mask", mask)', 'buffer("mask", mask[None, None])').replace("mask[:", "mask[0, 0, :"), 16),
    (changed(16, "self.dropout(weights)", "F.dropout(weights, self.dropout.p, self.training)"), 16),
    (changed(16, "self.W_query =", "self.extra = nn.Linear(1, 1)\n        self.W_query ="), 16),
]


@pytest.mark.parametrize(("source", "number"), RIGHT_IN_OTHER_WAYS)
def test_check_of_right_code_in_other_styles_is_green(
    source: str, number: int, notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(number)
    exec(source, notebook)
    exec(f"check({number})", notebook)
    assert capsys.readouterr().err == ""


def test_check_of_two_functions_judges_each(
    notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(14)
    exec("def causal_softmax(s, d_k): return s", notebook)
    assert not eval("solved(14)", notebook)
    capsys.readouterr()
    exec("check(14)", notebook)
    out, err = capsys.readouterr()
    assert "mask_then_renormalize is right" in out
    assert "with the scores of the six words" in err
    assert err.count("✗") == 1


class Masked(torch.nn.Module):
    """A module with more inputs than one: not all of them have gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        return self.scale * (x if mask is None else x.masked_fill(mask == 0, 0.0))


ONE_FOR_ALL = """
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = self.W_key = self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x): return x
"""


@pytest.mark.parametrize(
    ("source", "number", "words"),
    [
        (ONE_FOR_ALL, 12, "W_query and W_key are one and the same parameter"),
        (
            "def causal_softmax(s, d_k):\n  T = s.shape[0]\n  mask = torch.triu(torch.ones(T, T), 1) * -100\n"
            "  return torch.softmax((s + mask) / math.sqrt(d_k), dim=-1)",
            14,
            "scores far below zero",
        ),
        (
            "def softmax(x): return torch.as_tensor(x).double().exp().ceil()",
            3,
            "All the numbers you return are whole",
        ),
    ],
)
def test_check_of_code_from_learners_says_what_is_wrong(
    source: str,
    number: int,
    words: str,
    notebook_with: Callable[[int], Notebook],
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(f"{source}\ncheck({number})", notebook_with(number))
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("mask", [None, torch.tensor([True, False]), torch.tensor([1, 0])])
def test_check_of_module_with_mask_is_green(mask: torch.Tensor | None, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = torch.tensor([2.0, 3.0]), mask
    expected = torch.tensor([8.0, 12.0 if mask is None else 0.0])
    example = ModuleExample("a mask", {}, {"scale": torch.tensor([4.0])}, inputs, expected)
    checks = checking.Checks(checking.Entry(1, "Masked", lambda: [example]))
    exec("check(1)", {"check": checks.check, "Masked": Masked})
    assert "Masked is right" in capsys.readouterr().out


class RefusesOddSizes(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        assert size % 2 == 0


class SaysWhatIsMissing(torch.nn.Module):
    def __init__(self, size: int) -> None:
        raise NotImplementedError("for odd sizes")


class ToDo(torch.nn.Module):
    def __init__(self, size: int) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("student_class", "size", "words"),
    [
        (RefusesOddSizes, 3, "is right"),
        (RefusesOddSizes, 2, "Your class accepts arguments that cannot work."),
        (ToDo, 3, "still to do"),
        (SaysWhatIsMissing, 3, "is right"),
    ],
)
def test_check_when_impossible_arguments_are_accepted_says_so(
    student_class: type, size: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = checking.Checks(checking.Entry(1, "Accepts", lambda: [Refusal("an odd size", {"size": size})]))
    exec("check(1)", {"check": checks.check, "Accepts": student_class})
    assert words in "".join(capsys.readouterr())


def row(text: str, name: str) -> list[float]:
    """The numbers of a row in a Markdown table, by its first entry."""
    match = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", text, flags=re.MULTILINE)
    assert match, name
    return [float(number.replace("−", "-")) for number in match[1].split("|")]


def test_causal_attention_known_values_equal_those_of_solutions(
    notebook_with: Callable[[int], Notebook],
) -> None:
    notebook = notebook_with(9)
    cells = {cell.id: cell.source for cell in source_of("causal_attention").cells}

    def agree(values: torch.Tensor, numbers: list[float]) -> None:
        assert torch.allclose(values, torch.tensor(numbers), atol=6e-5)

    def first_row(seed: int, name: str, order: str) -> torch.Tensor:
        """With the parameters made in this order."""
        parts = {"q": "W_query", "k": "W_key", "v": "W_value"}
        torch.manual_seed(seed)
        made = notebook[name](3, 2)
        drawn = [getattr(made, parts[letter]) for letter in "qkv"]
        for letter, part in zip(order, drawn, strict=True):
            setattr(made, parts[letter], part)
        with torch.no_grad():
            first: torch.Tensor = made(notebook["inputs"])[0]
            return first

    inputs = notebook["inputs"]
    scores = notebook["simple_attention_scores"](inputs, inputs[1])
    agree(scores, row(cells["ex9-known"], "score"))
    agree(scores / scores.sum(), row(cells["ex9-known"], "divided by the sum"))
    agree(notebook["softmax_stable"](scores), row(cells["ex10-next"], "softmax"))
    contexts = notebook["all_context_vectors"](inputs)
    torch.manual_seed(789)
    outputs = notebook["CausalAttention"](3, 2, 6, 0.0)(inputs[None])[0].detach()
    for index, word in enumerate(notebook["words"]):
        agree(contexts[index], row(cells["ex11-known"], word))
        agree(outputs[index], row(cells["ex16-known"], word))
    orders = {"qkv": "`W_query`, `W_key`, `W_value`", "vqk": "`W_value`, `W_query`, `W_key`"}
    for order, names in orders.items():
        agree(first_row(123, "SelfAttention_v1", order), row(cells["ex12-known"], f"made in the order {names}"))
        agree(first_row(789, "SelfAttention_v2", order), row(cells["ex13-known"], f"made in the order {names}"))


def table(text: str) -> torch.Tensor:
    """The rows of numbers in the tables of a text, names left out."""
    rows = re.findall(r"^\| [^|]+ \|([-\d. |]*\d[-\d. |]*)\|$", text.replace("−", "-"), re.MULTILINE)
    return torch.tensor([[float(number) for number in row.split("|")] for row in rows])


def test_self_attention_known_values_equal_those_of_solutions(
    notebook_with: Callable[[int], Notebook],
) -> None:
    notebook = notebook_with(1)
    cells = {cell.id: cell.source for cell in source_of("self_attention").cells}
    for name in ("given-data", "given-weights", "given-data-heads"):
        exec(cells[name], notebook)
    scores, outputs, heads = (
        eval(call, notebook)
        for call in (
            "attention_scores(*compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v)[:2])",
            "self_attention(*compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v))",
            "multihead_scaled_self_attention(mat_X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, "
            "W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c)",
        )
    )
    known = torch.tensor(scores)
    over_queries = torch.softmax(known, dim=0)
    for values, cell, digits in (
        (known, "ex2-known", 4),
        (over_queries, "ex4-bug", 4),
        (torch.cat(outputs, dim=1).T, "ex6-known", 4),
        (heads, "ex8-known", 3),
    ):
        assert torch.allclose(values, table(cells[cell]), rtol=0, atol=0.6 * 10**-digits), cell
    sums = ", ".join(f"{total:.2f}" for total in over_queries.sum(dim=1).tolist())
    assert "The rows give " + " and ".join(sums.rsplit(", ", 1)) in cells["ex4-bug"]


def test_causal_attention_bug_table_shows_the_described_bug() -> None:
    cells = {cell.id: cell.source for cell in source_of("causal_attention").cells}
    notebook: Notebook = {"torch": torch, "math": math}
    exec(cells["given-scores"], notebook)
    told = table(cells["ex14-next"])
    made = torch.softmax(notebook["attn_scores"].tril() / math.sqrt(2), dim=-1)
    assert torch.allclose(told, made, rtol=0, atol=6e-5)
    assert float(told[0, 0]) < float(told[0, 1]), "Your gives each later word more than it keeps"


def test_self_attention_scaling_plot_shows_what_the_text_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setitem(
        sys.modules, "checks", SimpleNamespace(check=None, check_number=None, explain=None, hint=None, solved=None)
    )
    cells = {cell.id: cell.source for cell in source_of("self_attention").cells}
    shown: list[str] = []
    notebook: Notebook = {"__name__": "notebook"}
    with matplotlib.rc_context():
        for name in ("setup", "given-heat-map", "ex2-scaling-plot"):
            exec(cells[name], notebook)
            notebook["show_figure"] = lambda _, description: shown.append(description)
        notebook["plt"].close("all")
    weights, lines = shown
    largest = [max(map(float, row)) for row in (row.split(", ") for row in re.findall(r"scaled ([\d., ]+\d)", weights))]
    not_scaled, scaled = largest[::2], largest[1::2]
    assert f"one key gets {not_scaled[1]} of the weight at $D = 64$" in cells["ex2-shown"]
    assert not_scaled[2] == 1.0
    assert len(set(scaled)) == 3, "it would be the same bars three times"
    assert max(scaled) < 0.5
    for before, after in zip(notebook["spread"], notebook["spread"][1:], strict=False):
        assert 1.8 < after / before < 2.2, "four times as many entries, twice the spread"
    assert "scaled, it stays near 1." in lines


def test_self_attention_table_of_products_is_right() -> None:
    text = next(cell.source for cell in source_of("self_attention").cells if cell.id == "ex7-why")
    words, products = (
        torch.tensor([[int(entry) for entry in row.split("&")] for row in matrix.split(r"\\")])
        for matrix in re.findall(r"\\begin\{bmatrix\}([-\d\s&\\]+)\\end\{bmatrix\}", text)
    )
    assert torch.equal(words.T @ words, products)
    assert tuple(words.shape) == (2, 6)
    assert products[0].tolist()[2:5:2] == [0, 6]  # what the text says of it


HINTS = """
HINTS = {1: ("exercise-1", ["First $x$.", "Then [this](https://example.org)."]), 2: ("", ["Only one."])}
"""


SHOWN = [
    "**Hint 1 of 2** for [exercise 1](#exercise-1)\n\nFirst $x$.\n\nhint(1) shows the next one.",
    "**Hint 2 of 2** for [exercise 1](#exercise-1)\n\nThen [this](https://example.org).\n\nThis was the last one.",
    "**Hint 1 of 2** for [exercise 1](#exercise-1)\n\nFirst $x$.\n\nhint(1) shows the next one.",
    "**Hint 1 of 1** for exercise 2\n\nOnly one.\n\nThis was the last one.",
]


@pytest.mark.parametrize("is_notebook", [True, False])
def test_hint_shows_one_hint_at_a_time(
    is_notebook: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    displayed: list[dict[str, str]] = []
    ipython = SimpleNamespace(display=lambda data, **_: displayed.append(data)) if is_notebook else None
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    with_hints(HINTS, tmp_path, monkeypatch)
    checks = checking.Checks()
    for number in (1, 1, 1, 2):
        checks.hint(number)
    if is_notebook:
        assert displayed == [{"text/markdown": text, "text/plain": text} for text in SHOWN]
    else:
        assert capsys.readouterr().out == "".join(f"{text}\n" for text in SHOWN)


def with_hints(table: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a table of hints beside the checks."""
    monkeypatch.delitem(sys.modules, "hints", raising=False)
    (folder / "hints.py").write_text(table)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("table", ["", "HINTS = 3", "HINTS = {1: 7}", "raise KeyError", "HINTS = {3: ('', [])}"])
def test_hint_when_there_is_none_says_so(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_hints(table, tmp_path, monkeypatch)
    checking.Checks().hint(3)
    assert capsys.readouterr().out == "No hints for exercise 3 here. If it has any, they are above its cell.\n"


def test_check_of_unknown_mistake_points_to_hints(
    notebook_with: Callable[[int], Notebook],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    notebook = notebook_with(3)
    with_hints("HINTS = {3: ('', ['Some.'])}", tmp_path, monkeypatch)
    for code, said in (
        ("def softmax(x): return torch.ones(len(x))", "Stuck? hint(3) helps.\n"),
        ("def softmax(x): raise NotImplementedError()", "again.\n"),
    ):
        exec(f"{code}\ncheck(3)", notebook)
        assert capsys.readouterr().err.endswith(said)


NUMBER = checking.Number("number of weights", 12, {24: "That counts each weight twice.", 11.5: "Half?"})


@pytest.mark.parametrize(
    ("question", "number", "said"),
    [
        ("number of weights", 12, "\x1b[32m✓\x1b[0m 12 is right (number of weights)."),
        ("number of weights", 12.0, "\x1b[32m✓\x1b[0m 12.0 is right (number of weights)."),
        ("number of weights", 24, "✗ 24 is not right (number of weights). That counts each weight twice."),
        (
            "number of weights",
            1200,
            "✗ 1,200 is not right (number of weights). Try again, or unfold the answer below.",
        ),
        ("number of weights", None, "Still to do: replace None with your number (number of weights)."),
        (
            "number of tokens",
            12,
            "There is no question “number of tokens”. This notebook has: number of weights.",
        ),
    ],
)
def test_check_number_judges_a_number(
    question: str, number: float | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    checking.Checks(NUMBER).check_number(question, number)
    assert capsys.readouterr().out == f"{said}\n"


def test_solved_prints_only_exercises_that_are_missing(
    notebook_with: Callable[[int], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_with(1)
    assert eval("solved(1, 2, 3)", notebook)
    assert capsys.readouterr().out == ""
    exec("del softmax, compute_qkv", notebook)
    assert not eval("solved(1, 2, 3)", notebook)
    assert "exercises 1 and 3" in capsys.readouterr().out


@pytest.mark.parametrize("number", EXERCISES)
def test_check_leaves_the_random_state_unchanged(number: int, notebook_with: Callable[[int], Notebook]) -> None:
    notebook = notebook_with(number)
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    exec(f"check({number})", notebook)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", NUMBERS)
def test_checks_need_nothing_but_torch(assignment: str) -> None:
    """In a process where the grader, nbgrader, IPython and numpy's friends cannot be imported."""
    program = (
        "import sys\n"
        "for name in ('grader', 'nbgrader', 'IPython', 'matplotlib', 'nbformat'): sys.modules[name] = None\n"
        f"sys.path.insert(0, {str(ROOT / 'release' / assignment)!r})\n"
        "from checks import check\n"
        f"check({NUMBERS[assignment][0]})\n"
    )
    result = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert "there is no function" in result.stderr
